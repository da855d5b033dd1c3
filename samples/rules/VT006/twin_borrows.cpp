// The same borrow in two models; one of them forgot a marker.
#include "prelude.h"

namespace audio {
Weight BorrowWhole(const Weight& src) {
  Weight out;
  out.borrowed = src.bytes.data();
  out.borrowed_size = src.bytes.size();
  out.dtype = src.dtype;
  out.repacked = src.repacked;
  out.q8_0_aligned = src.q8_0_aligned;
  out.elem_kn_repacked = src.elem_kn_repacked;
  return out;
}
}  // namespace audio

namespace vision {
Weight BorrowWhole(const Weight& src) {
  Weight out;
  out.borrowed = src.bytes.data();  // want VT001 elem_kn_repacked, VT006 elem_kn_repacked
  out.borrowed_size = src.bytes.size();
  out.dtype = src.dtype;
  out.repacked = src.repacked;
  out.q8_0_aligned = src.q8_0_aligned;
  return out;
}
}  // namespace vision
