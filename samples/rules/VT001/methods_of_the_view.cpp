// The view's own reshape and row cut.
#include "prelude.h"

View View::Reshaped(const Dims& dims) const {
  return ViewOver(data, dtype, device, dims);  // want VT001 repacked q8_0_aligned elem_kn_repacked
}

View View::Rows(int64_t begin, int64_t end) const {
  Ensure(!repacked, "no row cut of an interleaved weight");
  auto* first = static_cast<uint8_t*>(data) + begin * RowBytes(dtype, shape[1]);
  return ViewOver(first, dtype, device, {end - begin, shape[1]});  // want VT001 q8_0_aligned elem_kn_repacked
}
