// Storage types, the check macro and the Q8_0 block formats.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

// Throws std::runtime_error naming the file and line when `cond` is false.
#define VT_CHECK(cond, msg)                                                                  \
  do {                                                                                       \
    if (!(cond)) {                                                                           \
      throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " + \
                               (msg));                                                       \
    }                                                                                        \
  } while (0)

namespace vt {

enum class DType : uint8_t { kF32, kF16, kBF16, kI32, kU8, kQ8_0 };

// Quants that share one scale, as in ggml's Q8_0.
inline constexpr int64_t kQ8Block = 32;

// One Q8_0 block: value i is F16(d) * qs[i]. 34 bytes, no padding.
struct BlockQ8_0 {
  uint16_t d;
  int8_t qs[kQ8Block];
};
static_assert(sizeof(BlockQ8_0) == 34);

// The same block column of four consecutive rows, as the i8mm kernel reads it. Chunk c (8 quants)
// of row r starts at qs[(4 * c + r) * 8], so one 16-byte load is an int8 2x8 operand of SMMLA.
struct BlockQ8_0x4 {
  uint16_t d[4];
  int8_t qs[4 * kQ8Block];
};
static_assert(sizeof(BlockQ8_0x4) == 4 * sizeof(BlockQ8_0));

inline bool IsBlockQuant(DType t) { return t == DType::kQ8_0; }

// Bytes of one element. Throws for block types, whose elements have no size of their own.
size_t SizeOf(DType t);

// Bytes of a row of `k` elements. Throws when a block type does not divide `k`.
size_t RowSizeBytes(DType t, int64_t k);

float F16ToF32(uint16_t h);
uint16_t F32ToF16(float f);  // rounds to nearest even

inline float BF16ToF32(uint16_t b) { return std::bit_cast<float>(static_cast<uint32_t>(b) << 16); }

inline uint16_t F32ToBF16(float f) {  // rounds to nearest even; finite input
  const uint32_t u = std::bit_cast<uint32_t>(f);
  return static_cast<uint16_t>((u + 0x7fffU + ((u >> 16) & 1U)) >> 16);
}

// Element `i` of a buffer of an elementwise float type, as float.
float LoadFloat(const void* p, DType t, int64_t i);

// Quantises `k` floats to k / 32 blocks: d = max|x| / 127 rounded to F16, qs = round(x / d).
void QuantizeRowQ8_0(const float* x, int64_t k, BlockQ8_0* out);

}  // namespace vt
