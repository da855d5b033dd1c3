// Copy, then offset: the shards keep the markers of the whole.
#include "prelude.h"

std::vector<View> Shards(const View& whole, int count) {
  std::vector<View> out;
  const int64_t n = whole.shape[0] / count;
  for (int i = 0; i < count; ++i) {
    View t = whole;
    t.shape[0] = n;
    // want VT003 repacked q8_0_aligned elem_kn_repacked
    t.data = static_cast<uint8_t*>(whole.data) + i * n * RowBytes(whole.dtype, whole.shape[1]);
    out.push_back(t);
  }
  return out;
}
