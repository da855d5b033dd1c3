// A whole borrow between owners, one without its markers and one with them.
#include "prelude.h"

Weight Bare(const Weight& src) {
  Weight out;
  out.borrowed = src.bytes.data();  // want VT001 repacked q8_0_aligned elem_kn_repacked
  out.borrowed_size = src.bytes.size();
  out.keep = src.keep;
  out.dtype = src.dtype;
  return out;
}

// ok
Weight Faithful(const Weight& src) {
  Weight out;
  out.borrowed = src.bytes.data();
  out.borrowed_size = src.bytes.size();
  out.keep = src.keep;
  out.dtype = src.dtype;
  out.repacked = src.repacked;
  out.q8_0_aligned = src.q8_0_aligned;
  out.elem_kn_repacked = src.elem_kn_repacked;
  out.d_dev = src.d_dev;
  return out;
}

// ok: losing the device memo costs time, not meaning
Weight WithoutTheMemo(const Weight& src) {
  Weight out;
  out.borrowed = src.bytes.data();
  out.borrowed_size = src.bytes.size();
  out.repacked = src.repacked;
  out.q8_0_aligned = src.q8_0_aligned;
  out.elem_kn_repacked = src.elem_kn_repacked;
  return out;
}
