// A reshape that starts again from pointer, dtype and device.
#include "prelude.h"

View Reshape(const View& v, const Dims& dims) {
  Require(!v.repacked && !v.q8_0_aligned && !v.elem_kn_repacked, "this layout does not survive a reshape");
  return ViewOver(v.data, v.dtype, v.device, dims);
}

void Fused(View& out, const View& x, const View& w) {
  View two = Reshape(w, {w.shape[0] * 2, w.shape[1] / 2});
  CpuMatmul(out, x, two);
}
