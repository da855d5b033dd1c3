// A predicate that lets a marker pass is no refusal of it.
#include "prelude.h"

bool Acceptable(const View& v) {
  const bool dense = v.stride[0] == v.shape[1] && v.stride[1] == 1;
  return dense || v.elem_kn_repacked;
}

void CopyOut(float* dst, const View& v) {
  Require(!v.repacked && !v.q8_0_aligned, "floats only");
  Require(Acceptable(v), "layout");
  std::memcpy(dst, v.data, TotalBytes(v));  // want VT004 elem_kn_repacked
}

// ok
void CopyOutPlain(float* dst, const View& v) {
  Require(!v.elem_kn_repacked && !v.repacked && !v.q8_0_aligned, "plain only");
  std::memcpy(dst, v.data, TotalBytes(v));
}
