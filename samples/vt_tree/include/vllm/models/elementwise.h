// Host elementwise steps between the GEMMs.
#pragma once

#include <cmath>
#include <vector>

namespace vllm {

// Scales each row of x[rows, dim] to unit root mean square and multiplies by `weight`[dim].
inline std::vector<float> RmsNorm(const std::vector<float>& x, const std::vector<float>& weight) {
  const size_t dim = weight.size();
  std::vector<float> y(x.size());
  for (size_t r = 0; r + dim <= x.size(); r += dim) {
    float sum = 0.0F;
    for (size_t i = 0; i < dim; ++i) sum += x[r + i] * x[r + i];
    const float inv = 1.0F / std::sqrt(sum / static_cast<float>(dim) + 1e-6F);
    for (size_t i = 0; i < dim; ++i) y[r + i] = x[r + i] * inv * weight[i];
  }
  return y;
}

// silu(first half) * second half of each row of x[rows, 2 * dim].
inline std::vector<float> SiluAndMul(const std::vector<float>& x, size_t dim) {
  std::vector<float> y(x.size() / 2);
  for (size_t i = 0; i < y.size(); ++i) {
    const float g = x[i / dim * 2 * dim + i % dim];
    y[i] = g / (1.0F + std::exp(-g)) * x[i / dim * 2 * dim + dim + i % dim];
  }
  return y;
}

inline void AddTo(std::vector<float>& acc, const std::vector<float>& x) {
  for (size_t i = 0; i < acc.size(); ++i) acc[i] += x[i];
}

}  // namespace vllm
