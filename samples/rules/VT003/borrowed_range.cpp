// All three names are copied, onto an arbitrary piece.
#include "prelude.h"

Weight BorrowRange(const Weight& src, size_t offset, size_t size, const Dims& dims) {
  Require(dims.size() <= static_cast<size_t>(kMaxRank), "rank");
  Weight part;
  part.borrowed = src.bytes.data() + offset;  // want VT003 repacked q8_0_aligned elem_kn_repacked
  part.borrowed_size = size;
  part.keep = src.keep;
  part.dtype = src.dtype;
  part.repacked = src.repacked;
  part.q8_0_aligned = src.q8_0_aligned;
  part.elem_kn_repacked = src.elem_kn_repacked;
  part.rank = static_cast<int>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) part.shape[i] = dims[i];
  return part;
}

// ok
Weight BorrowRangeOrRefuse(const Weight& src, size_t offset, size_t size) {
  const bool whole = offset == 0 && size == src.bytes.size();
  Require(whole || (!src.repacked && !src.q8_0_aligned && !src.elem_kn_repacked), "only a whole borrow keeps a layout");
  Weight part;
  part.borrowed = src.bytes.data() + offset;
  part.borrowed_size = size;
  part.dtype = src.dtype;
  part.repacked = src.repacked;
  part.q8_0_aligned = src.q8_0_aligned;
  part.elem_kn_repacked = src.elem_kn_repacked;
  return part;
}
