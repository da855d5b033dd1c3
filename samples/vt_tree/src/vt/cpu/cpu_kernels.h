// CPU kernels behind the registry.
#pragma once

#include <vector>

#include "vt/ops.h"

namespace vt::cpu {

// Rows of `a`[M,K] f32 as Q8_0, [M, K / 32] blocks.
std::vector<BlockQ8_0> QuantizeActivations(const Tensor& a);

// The repacked arm of the quantised GEMM: `b` holds BlockQ8_0x4 groups. Bit-identical to the plain
// arm. Uses SMMLA where the build has i8mm, a portable loop over the same layout elsewhere.
void MatmulQ8x4(Tensor& out, const Tensor& a, const Tensor& b);

void MatmulBTQuantKernel(Queue& q, Tensor& out, const Tensor& a, const Tensor& b);
void MatmulBTKernel(Queue& q, Tensor& out, const Tensor& a, const Tensor& b);
void EmbeddingKernel(Queue& q, Tensor& out, const Tensor& table, const Tensor& ids);

}  // namespace vt::cpu
