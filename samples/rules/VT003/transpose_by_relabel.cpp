// Swapping the shape does not move a byte.
#include "prelude.h"

View Transposed(const View& v) {
  View t = v;
  std::swap(t.shape[0], t.shape[1]);  // want VT003 repacked q8_0_aligned elem_kn_repacked
  std::swap(t.stride[0], t.stride[1]);
  return t;
}

// ok
View TransposedPlain(const View& v) {
  Require(!v.repacked && !v.q8_0_aligned && !v.elem_kn_repacked, "a plain view");
  View t = v;
  std::swap(t.shape[0], t.shape[1]);
  std::swap(t.stride[0], t.stride[1]);
  return t;
}

void Tied(View& out, const View& x, const View& w) { CpuMatmul(out, x, Transposed(w)); }
