#include "vt/dtype.h"

#include <algorithm>
#include <cmath>

namespace vt {

size_t SizeOf(DType t) {
  switch (t) {
    case DType::kF32:
    case DType::kI32: return 4;
    case DType::kF16:
    case DType::kBF16: return 2;
    case DType::kU8: return 1;
    case DType::kQ8_0: break;
  }
  VT_CHECK(false, "SizeOf: a block type has no element size");
}

size_t RowSizeBytes(DType t, int64_t k) {
  VT_CHECK(k >= 0, "RowSizeBytes: negative length");
  if (!IsBlockQuant(t)) return static_cast<size_t>(k) * SizeOf(t);
  VT_CHECK(k % kQ8Block == 0, "RowSizeBytes: a row must be whole blocks");
  return static_cast<size_t>(k / kQ8Block) * sizeof(BlockQ8_0);
}

float F16ToF32(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000U) << 16;
  const uint32_t exp = (h >> 10) & 0x1fU;
  const uint32_t man = h & 0x3ffU;
  if (exp == 0) {  // zero or subnormal: man * 2^-24 is exact in float
    const float v = static_cast<float>(man) * 0x1p-24F;
    return sign != 0 ? -v : v;
  }
  if (exp == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | (man << 13));
  return std::bit_cast<float>(sign | ((exp + 112) << 23) | (man << 13));
}

uint16_t F32ToF16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  const uint16_t sign = static_cast<uint16_t>((u >> 16) & 0x8000U);
  const uint32_t abs = u & 0x7fffffffU;
  if (abs > 0x7f800000U) return sign | 0x7e00U;   // NaN
  if (abs >= 0x477ff000U) return sign | 0x7c00U;  // rounds past the largest finite half
  if (abs < 0x38800000U) {                        // subnormal half: units of 2^-24
    return sign | static_cast<uint16_t>(std::nearbyint(std::bit_cast<float>(abs) * 0x1p24F));
  }
  const uint32_t rounded = abs + 0xfffU + ((abs >> 13) & 1U);
  return sign | static_cast<uint16_t>((rounded - 0x38000000U) >> 13);
}

float LoadFloat(const void* p, DType t, int64_t i) {
  switch (t) {
    case DType::kF32: return static_cast<const float*>(p)[i];
    case DType::kF16: return F16ToF32(static_cast<const uint16_t*>(p)[i]);
    case DType::kBF16: return BF16ToF32(static_cast<const uint16_t*>(p)[i]);
    default: break;
  }
  VT_CHECK(false, "LoadFloat: not a float type");
}

void QuantizeRowQ8_0(const float* x, int64_t k, BlockQ8_0* out) {
  VT_CHECK(k % kQ8Block == 0, "QuantizeRowQ8_0: a row must be whole blocks");
  for (int64_t b = 0; b < k / kQ8Block; ++b, x += kQ8Block) {
    float amax = 0.0F;
    for (int64_t i = 0; i < kQ8Block; ++i) amax = std::max(amax, std::fabs(x[i]));
    const float d = amax / 127.0F;
    const float inv = d > 0.0F ? 1.0F / d : 0.0F;
    out[b].d = F32ToF16(d);
    for (int64_t i = 0; i < kQ8Block; ++i) {
      out[b].qs[i] = static_cast<int8_t>(std::clamp(std::round(x[i] * inv), -127.0F, 127.0F));
    }
  }
}

}  // namespace vt
