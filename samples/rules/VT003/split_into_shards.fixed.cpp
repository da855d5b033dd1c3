// Copy, then offset: the shards keep the markers of the whole.
#include "prelude.h"

std::vector<View> Shards(const View& whole, int count) {
  std::vector<View> out;
  const int64_t n = whole.shape[0] / count;
  for (int i = 0; i < count; ++i) {
    Require(!whole.repacked && !whole.q8_0_aligned && !whole.elem_kn_repacked, "this layout cannot be cut");
    View t = whole;
    t.shape[0] = n;
    t.data = static_cast<uint8_t*>(whole.data) + i * n * RowBytes(whole.dtype, whole.shape[1]);
    out.push_back(t);
  }
  return out;
}
