// The rewrite asks for the marker and sets it.
#include "prelude.h"

// ok
void ToKN(Weight& w, int64_t n, int64_t k) {
  if (w.elem_kn_repacked) return;
  Ensure(!w.repacked && !w.q8_0_aligned, "floats");
  std::vector<uint8_t> t(w.bytes.size());
  const size_t size = w.bytes.size() / static_cast<size_t>(n * k);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j)
      std::memcpy(&t[static_cast<size_t>(j * n + i) * size], &w.bytes[static_cast<size_t>(i * k + j) * size], size);
  w.bytes.swap(t);
  w.elem_kn_repacked = true;
}
