// The weight comes out of a pair.
#include "prelude.h"

std::pair<Weight, int> Load();

void Bare(View& out, const View& x) {
  auto [w, layer] = Load();
  // todo-want VT001 repacked q8_0_aligned elem_kn_repacked
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.rank = layer;
  CpuMatmul(out, x, t);
}

// ok
void Faithful(View& out, const View& x) {
  const auto [w, layer] = Load();
  Ensure(!w.q8_0_aligned && layer > 0, "a CUDA layout on the CPU arm");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  CpuMatmul(out, x, t);
}
