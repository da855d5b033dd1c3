// Operations: a table of function pointers keyed by operation and device, and typed dispatchers.
#pragma once

#include "vt/backend.h"
#include "vt/tensor.h"

namespace vt {

enum class OpId : uint8_t { kMatmulBT, kMatmulBTQuant, kEmbedding };
inline constexpr size_t kNumOps = 3;

using MatmulFn = void (*)(Queue&, Tensor&, const Tensor&, const Tensor&);
using EmbeddingFn = void (*)(Queue&, Tensor&, const Tensor&, const Tensor&);

void RegisterOp(OpId op, DeviceType device, void* fn);

// Throws when no kernel is registered for the pair.
void* GetOp(OpId op, DeviceType device);

// Registers the kernels and backends of this build. The registry calls it once, on first use.
void RegisterBuiltins();

// out[M,N] f32 = a[M,K] f32 @ b[N,K]^T with `b` F32, F16 or BF16.
void MatmulBT(Queue& q, Tensor& out, const Tensor& a, const Tensor& b);

// The same with `b` Q8_0. `a` is quantised to Q8_0 first, and the product of two blocks is an exact
// int32 dot scaled by both block scales.
void MatmulBTQuant(Queue& q, Tensor& out, const Tensor& a, const Tensor& b);

// out[T,D] f32 = rows `ids`[T] i32 of table[V,D] (F32, F16, BF16). Throws on an id outside [0, V).
void Embedding(Queue& q, Tensor& out, const Tensor& table, const Tensor& ids);

}  // namespace vt
