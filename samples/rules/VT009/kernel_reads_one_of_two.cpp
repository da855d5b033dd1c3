// A quantised CPU kernel knows the interleave and takes the aligned layout for plain.
#include "prelude.h"

void QuantisedMatmul(float* y, const float* x, const View& b) {
  Ensure(b.dtype == DType::kQ8_0, "Q8_0");
  const auto* w = static_cast<const uint8_t*>(b.data);
  const size_t step = b.repacked ? 136 : 34;
  // want VT009 q8_0_aligned
  for (int64_t i = 0; i < b.shape[0]; ++i) y[i] = x[i] * static_cast<float>(w[static_cast<size_t>(i) * step]);
}
