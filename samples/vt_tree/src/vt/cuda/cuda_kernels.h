// CUDA kernels behind the registry.
#pragma once

#include "vt/ops.h"

namespace vt::cuda {

// Reads `b` as plain blocks, or as the sections of RepackQ8_0Cuda when b.q8_0_aligned.
void MatmulBTQuantKernel(Queue& q, Tensor& out, const Tensor& a, const Tensor& b);

// Reads `b` as [N, K] whatever its markers say.
void MatmulBTKernel(Queue& q, Tensor& out, const Tensor& a, const Tensor& b);

}  // namespace vt::cuda
