// A reshape that starts again from pointer, dtype and device.
#include "prelude.h"

View Reshape(const View& v, const Dims& dims) {
  return ViewOver(v.data, v.dtype, v.device, dims);  // want VT001 repacked q8_0_aligned elem_kn_repacked
}

void Fused(View& out, const View& x, const View& w) {
  View two = Reshape(w, {w.shape[0] * 2, w.shape[1] / 2});
  CpuMatmul(out, x, two);
}
