// Device helpers shared by the kernels.
#pragma once

#include <cstdint>

namespace vt::cuda {

constexpr int kWarp = 32;
constexpr unsigned kFullMask = 0xffffffffU;

// F16 bits to float. The blocks hold uint16_t so that host code needs no CUDA header.
__device__ __forceinline__ float HalfBitsToFloat(unsigned short h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}

// The sum over the warp, in every lane. All 32 lanes must call.
__device__ __forceinline__ float WarpSum(float v) {
  for (int s = kWarp / 2; s > 0; s /= 2) v += __shfl_xor_sync(kFullMask, v, s);
  return v;
}

inline unsigned GridSize(int64_t items, int64_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace vt::cuda
