// No offset, but less than the whole.
#include "prelude.h"

View FirstRows(const View& v, int64_t n) {
  View t = v;
  t.shape[0] = n;  // want VT003 repacked q8_0_aligned elem_kn_repacked
  return t;
}

View FirstColumns(const View& v, int64_t k) {
  Require(!v.q8_0_aligned && !v.elem_kn_repacked, "cannot be cut");
  View t = v;
  t.shape[1] = k;  // want VT003 repacked
  return t;
}

// ok: rows in whole groups of four
View FirstGroups(const View& v, int64_t n) {
  Require(!v.q8_0_aligned && !v.elem_kn_repacked, "cannot be cut");
  Require(n % 4 == 0, "a group would be cut");
  View t = v;
  t.shape[0] = n;
  return t;
}
