// The CPU rewriters and the probe that says whether the quantised one pays.
#include "vt/weight_layout.h"

#include <cstring>
#include <vector>

#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
#include <sys/auxv.h>

#include <cstdlib>
#ifndef HWCAP2_I8MM
#define HWCAP2_I8MM (1UL << 13)
#endif
#endif

namespace vt::cpu {

#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
bool QuantRepackActive() {
  static const bool active = [] {
    const char* env = std::getenv("VT_CPU_QUANT_REPACK");
    if (env != nullptr && env[0] == '0') return false;
    return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
  }();
  return active;
}
#else
bool QuantRepackActive() { return false; }
#endif

bool QuantRepackShapeOk(DType dtype, int64_t n, int64_t k) {
  return dtype == DType::kQ8_0 && n > 0 && n % 4 == 0 && k > 0 && k % kQ8Block == 0;
}

void QuantRepackWeight(DType dtype, uint8_t* blocks, int64_t n, int64_t k) {
  VT_CHECK(QuantRepackShapeOk(dtype, n, k),
           "QuantRepackWeight: needs Q8_0, N % 4 == 0 and K % 32 == 0");
  const int64_t nblk = k / kQ8Block;
  std::vector<BlockQ8_0> group(static_cast<size_t>(4 * nblk));
  for (int64_t g = 0; g < n / 4; ++g) {
    uint8_t* base = blocks + static_cast<size_t>(g * 4 * nblk) * sizeof(BlockQ8_0);
    std::memcpy(group.data(), base, group.size() * sizeof(BlockQ8_0));
    for (int64_t p = 0; p < nblk; ++p) {
      BlockQ8_0x4 x4;
      for (int64_t r = 0; r < 4; ++r) {
        const BlockQ8_0& src = group[static_cast<size_t>(r * nblk + p)];
        x4.d[r] = src.d;
        for (int64_t c = 0; c < 4; ++c) std::memcpy(x4.qs + (4 * c + r) * 8, src.qs + c * 8, 8);
      }
      std::memcpy(base + static_cast<size_t>(p) * sizeof x4, &x4, sizeof x4);
    }
  }
}

bool ElemRepackEligible(DType dtype, int64_t n, int64_t k) {
  return (dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16) && n > 0 && k > 0;
}

void ElemRepackWeight(DType dtype, uint8_t* bytes, int64_t n, int64_t k) {
  VT_CHECK(ElemRepackEligible(dtype, n, k), "ElemRepackWeight: needs a non-empty float weight");
  const size_t es = SizeOf(dtype);
  const std::vector<uint8_t> src(bytes, bytes + static_cast<size_t>(n * k) * es);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t p = 0; p < k; ++p) {
      std::memcpy(bytes + static_cast<size_t>(p * n + j) * es,
                  src.data() + static_cast<size_t>(j * k + p) * es, es);
    }
  }
}

}  // namespace vt::cpu
