// The decoder is called by a worker.
#include "prelude.h"

#include <functional>

void ParallelFor(int64_t count, const std::function<void(int64_t)>& body);

void ToFloats(float* out, const View& w) {
  ParallelFor(w.shape[0], [&](int64_t row) {
    const auto* p = static_cast<const uint8_t*>(w.data) + row * RowBytes(w.dtype, w.shape[1]);
    // want VT007 repacked q8_0_aligned elem_kn_repacked
    DecodeRows(p, w.dtype, w.shape[1], out + row * w.shape[1]);
  });
}

// ok
void ToFloatsOfPlain(float* out, const View& w) {
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "a plain weight");
  ParallelFor(w.shape[0], [&](int64_t row) {
    const auto* p = static_cast<const uint8_t*>(w.data) + row * RowBytes(w.dtype, w.shape[1]);
    DecodeRows(p, w.dtype, w.shape[1], out + row * w.shape[1]);
  });
}
