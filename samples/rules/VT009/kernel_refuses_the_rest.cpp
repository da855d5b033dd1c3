// The kernel says what it cannot read.
#include "prelude.h"

// ok
void QuantisedMatmul(float* y, const float* x, const View& b) {
  Ensure(b.dtype == DType::kQ8_0 && !b.q8_0_aligned, "Q8_0 for the CPU");
  const auto* w = static_cast<const uint8_t*>(b.data);
  const size_t step = b.repacked ? 136 : 34;
  for (int64_t i = 0; i < b.shape[0]; ++i) y[i] = x[i] * static_cast<float>(w[static_cast<size_t>(i) * step]);
}

// ok
void FloatMatmul(float* y, const float* x, const View& b) {
  Ensure(b.dtype == DType::kF32, "floats");
  const auto* w = static_cast<const float*>(b.data);
  const int64_t step = b.elem_kn_repacked ? 1 : b.shape[1];
  for (int64_t i = 0; i < b.shape[0]; ++i) y[i] = x[i] * w[i * step];
}
