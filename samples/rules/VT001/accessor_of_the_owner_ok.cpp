// The accessor that carries all it has.
#include "prelude.h"

// ok
View Weight::AsView() const {
  View t = ViewOver(const_cast<uint8_t*>(bytes.data()), dtype, Device::kCPU, {shape[0], shape[1]});
  t.repacked = repacked;
  t.elem_kn_repacked = this->elem_kn_repacked;
  Require(!q8_0_aligned, "a CUDA layout on the CPU arm");
  return t;
}

void Linear(View& out, const View& x, const Weight& w) { CpuMatmul(out, x, w.AsView()); }
