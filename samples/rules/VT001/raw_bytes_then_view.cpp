// The bytes go through a helper that takes a plain pointer and makes a view.
#include "prelude.h"

static View OverBytes(const uint8_t* p, int64_t n, int64_t k) {
  return ViewOver(const_cast<uint8_t*>(p), DType::kQ8_0, Device::kCPU, {n, k});
}

void Linear(View& out, const View& x, const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  View b = OverBytes(w.bytes.data(), w.shape[0], w.shape[1]);
  CpuMatmul(out, x, b);
}
