// The loss in the other direction: an owner that borrows a view's bytes.
#include "prelude.h"

Weight BorrowView(const View& v) {
  Weight w;
  w.dtype = v.dtype;
  w.rank = v.rank;
  for (int i = 0; i < v.rank; ++i) w.shape[i] = v.shape[i];
  w.borrowed = static_cast<const uint8_t*>(v.data);  // want VT001 repacked q8_0_aligned elem_kn_repacked
  w.borrowed_size = TotalBytes(v);
  return w;
}

// ok
Weight BorrowViewFaithfully(const View& v) {
  Weight w;
  w.dtype = v.dtype;
  w.rank = v.rank;
  for (int i = 0; i < v.rank; ++i) w.shape[i] = v.shape[i];
  w.repacked = v.repacked;
  w.q8_0_aligned = v.q8_0_aligned;
  w.elem_kn_repacked = v.elem_kn_repacked;
  w.borrowed = static_cast<const uint8_t*>(v.data);
  w.borrowed_size = TotalBytes(v);
  return w;
}
