// The bytes are rewritten and nothing says so; a comparison of shapes is no marker.
#include "prelude.h"

void ToKN(Weight& w, int64_t n, int64_t k) {
  if (w.shape[0] == k && w.shape[1] == n) return;
  std::vector<uint8_t> t(w.bytes.size());
  const size_t size = w.bytes.size() / static_cast<size_t>(n * k);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j)
      // may VT007 repacked q8_0_aligned elem_kn_repacked
      std::memcpy(&t[static_cast<size_t>(j * n + i) * size], &w.bytes[static_cast<size_t>(i * k + j) * size], size);
  w.bytes.swap(t);  // want VT008 elem_kn_repacked may VT008 repacked q8_0_aligned
  w.shape[0] = k;
  w.shape[1] = n;
}
