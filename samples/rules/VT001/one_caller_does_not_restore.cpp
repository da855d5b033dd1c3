// One of two callers forgets, so the helper is to blame.
#include "prelude.h"

View Bare(const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

// ok
void Careful(View& out, const View& x, const Weight& w) {
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  View b = Bare(w);
  b.repacked = w.repacked;
  b.elem_kn_repacked = w.elem_kn_repacked;
  CpuMatmul(out, x, b);
}

void Careless(View& out, const View& x, const Weight& w) { CpuMatmul(out, x, Bare(w)); }
