// The helper makes bare views and every caller puts the markers back, or refuses them.
#include "prelude.h"

// want VT001 q8_0_aligned
View Bare(const Weight& w) { return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)); }

// ok
void One(View& out, const View& x, const Weight& w) {
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  View b = Bare(w);
  b.repacked = w.repacked;
  b.elem_kn_repacked = w.elem_kn_repacked;
  CpuMatmul(out, x, b);
}

// ok
void Two(View& out, const View& x, const Weight& w) {
  if (w.repacked || w.q8_0_aligned || w.elem_kn_repacked) throw std::runtime_error("plain only");
  CpuMatmul(out, x, Bare(w));
}
