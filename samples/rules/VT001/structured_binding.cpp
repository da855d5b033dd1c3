// The weight comes out of a pair.
#include <map>

#include "prelude.h"

std::pair<Weight, int> Load();

void Bare(View& out, const View& x) {
  auto [w, layer] = Load();
  // want VT001 repacked q8_0_aligned elem_kn_repacked
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

void EachOf(View& out, const View& x, const std::map<int, Weight>& layers) {
  for (const auto& [layer, w] : layers) {
    View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked q8_0_aligned elem_kn_repacked
    t.rank = layer;
    CpuMatmul(out, x, t);
  }
}

// ok
void EachOfTheFaithful(View& out, const View& x, const std::map<int, Weight>& layers) {
  for (const auto& [layer, w] : layers) {
    Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked && layer > 0, "plain weights");
    View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
    CpuMatmul(out, x, t);
  }
}
