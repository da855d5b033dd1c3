// Reading single values out of the bytes.
#include "prelude.h"

float FirstColumnSum(const Weight& w) {
  const auto* values = reinterpret_cast<const float*>(w.bytes.data());  // want VT007 repacked q8_0_aligned elem_kn_repacked
  float sum = 0;
  for (int64_t i = 0; i < w.shape[0]; ++i) sum += values[i * w.shape[1]];
  return sum;
}

// ok
float FirstColumnSumOfPlain(const Weight& w) {
  Ensure(!w.elem_kn_repacked && w.dtype == DType::kF32, "plain floats");
  const auto* values = reinterpret_cast<const float*>(w.bytes.data());
  float sum = 0;
  for (int64_t i = 0; i < w.shape[0]; ++i) sum += values[i * w.shape[1]];
  return sum;
}
