// A decoder reads the weight's bytes by dtype and knows no layout.
#include "prelude.h"

std::vector<float> ToFloats(const Weight& w) {
  const int64_t count = w.shape[0] * w.shape[1];
  std::vector<float> out(static_cast<size_t>(count));
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain bytes only");
  DecodeRows(w.bytes.data(), w.dtype, count, out.data());
  return out;
}
