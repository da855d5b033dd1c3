// That the function has callers puts no wrong marker right.
#include "prelude.h"

View Rows(const View& out, const View& weight) {
  View t{};
  t.data = weight.data;  // want VT005 q8_0_aligned
  t.dtype = weight.dtype;
  t.repacked = weight.repacked;
  t.q8_0_aligned = out.q8_0_aligned;
  t.elem_kn_repacked = weight.elem_kn_repacked;
  return t;
}

void Caller(View& out, const View& x, const View& weight) { CpuMatmul(out, x, Rows(out, weight)); }
