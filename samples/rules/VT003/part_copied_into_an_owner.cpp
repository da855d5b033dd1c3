// A range of the bytes is copied and labelled like the whole.
#include "prelude.h"

Weight Part(const Weight& w, size_t first, size_t last) {
  Weight out;
  // want VT003 repacked q8_0_aligned elem_kn_repacked
  out.bytes.assign(w.bytes.begin() + first, w.bytes.begin() + last);
  out.dtype = w.dtype;
  out.repacked = w.repacked;
  out.q8_0_aligned = w.q8_0_aligned;
  out.elem_kn_repacked = w.elem_kn_repacked;
  return out;
}

// ok
Weight PartOfPlain(const Weight& w, size_t first, size_t last) {
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "a plain weight");
  Weight out;
  out.bytes.assign(w.bytes.begin() + first, w.bytes.begin() + last);
  out.dtype = w.dtype;
  return out;
}
