// Host half of the CUDA layout. Built in every configuration: a loader runs before it knows a GPU.
#include <cstring>
#include <vector>

#include "vt/weight_layout.h"

namespace vt::cpu {

bool RepackQ8_0CudaEligible(DType dtype, int64_t n, int64_t k) {
  return dtype == DType::kQ8_0 && n > 0 && k > 0 && k % kQ8Block == 0;
}

void RepackQ8_0Cuda(uint8_t* blocks, int64_t n, int64_t k) {
  VT_CHECK(RepackQ8_0CudaEligible(DType::kQ8_0, n, k), "RepackQ8_0Cuda: needs K % 32 == 0");
  const size_t count = static_cast<size_t>(n * k / kQ8Block);
  std::vector<BlockQ8_0> src(count);
  std::memcpy(src.data(), blocks, count * sizeof(BlockQ8_0));
  uint8_t* scales = blocks + count * kQ8Block;
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(blocks + i * kQ8Block, src[i].qs, kQ8Block);
    std::memcpy(scales + i * sizeof(uint16_t), &src[i].d, sizeof(uint16_t));
  }
}

}  // namespace vt::cpu
