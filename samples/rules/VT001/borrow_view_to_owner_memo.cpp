// The device memo is a way to hold bytes too.
#include "prelude.h"

Weight BorrowDevice(const View& v) {
  Weight w;
  w.dtype = v.dtype;
  w.rank = v.rank;
  w.d_dev = std::shared_ptr<void>(v.data, [](void*) {});  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return w;
}
