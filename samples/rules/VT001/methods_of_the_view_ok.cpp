// Both methods refuse what they cannot keep.
#include "prelude.h"

// ok
View View::Reshaped(const Dims& dims) const {
  if (repacked || q8_0_aligned || elem_kn_repacked) Fail("the layout is tied to the shape");
  return ViewOver(data, dtype, device, dims);
}

// ok
View View::Rows(int64_t begin, int64_t end) const {
  if (repacked || q8_0_aligned || elem_kn_repacked) Fail("the layout is tied to the rows");
  View t = *this;
  t.data = static_cast<uint8_t*>(data) + begin * RowBytes(dtype, shape[1]);
  t.shape[0] = end - begin;
  return t;
}
