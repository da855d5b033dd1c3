// Load-time rewriters: each permutes the bytes of a weight in place. The caller sets the marker of
// the same name on the weight; dtype, shape and byte count do not change.
#pragma once

#include "vt/dtype.h"

namespace vt::cpu {

// True when this process has the i8mm quantised GEMM: compiled for aarch64 with i8mm, found on this
// machine, and not switched off by VT_CPU_QUANT_REPACK=0. Always false elsewhere.
bool QuantRepackActive();

// Shapes the four-row interleave can hold: Q8_0, whole groups of four rows, whole blocks.
bool QuantRepackShapeOk(DType dtype, int64_t n, int64_t k);

inline bool QuantRepackEligible(DType dtype, int64_t n, int64_t k) {
  return QuantRepackActive() && QuantRepackShapeOk(dtype, n, k);
}

// [N, K] Q8_0 blocks -> N / 4 groups of K / 32 BlockQ8_0x4. Throws unless QuantRepackShapeOk.
void QuantRepackWeight(DType dtype, uint8_t* blocks, int64_t n, int64_t k);

bool ElemRepackEligible(DType dtype, int64_t n, int64_t k);

// Transposes the bytes of a float [N, K] weight to [K, N]. Throws unless ElemRepackEligible.
void ElemRepackWeight(DType dtype, uint8_t* bytes, int64_t n, int64_t k);

bool RepackQ8_0CudaEligible(DType dtype, int64_t n, int64_t k);

// [N, K] Q8_0 blocks -> N * K quants, then N * K / 32 F16 scales, both in row-major order.
// Runs on the host; only the CUDA GEMM reads the result.
void RepackQ8_0Cuda(uint8_t* blocks, int64_t n, int64_t k);

}  // namespace vt::cpu
