// The cut is made on the view itself.
#include "prelude.h"

View Advance(View v, int64_t rows) {
  v.data = static_cast<uint8_t*>(v.data) + rows * RowBytes(v.dtype, v.shape[1]);
  v.shape[0] -= rows;  // want VT003 repacked q8_0_aligned elem_kn_repacked
  return v;
}

// ok
View AdvancePlain(View v, int64_t rows) {
  if (v.repacked || v.q8_0_aligned || v.elem_kn_repacked) Fail("a plain view");
  v.data = static_cast<uint8_t*>(v.data) + rows * RowBytes(v.dtype, v.shape[1]);
  v.shape[0] -= rows;
  return v;
}
