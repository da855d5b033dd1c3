#include "vt/ops.h"

namespace vt {
namespace {

void CheckMatmul(const Tensor& out, const Tensor& a, const Tensor& b) {
  VT_CHECK(out.rank == 2 && a.rank == 2 && b.rank == 2, "matmul: rank 2 expected");
  VT_CHECK(out.dtype == DType::kF32 && a.dtype == DType::kF32, "matmul: f32 activations expected");
  VT_CHECK(a.shape[1] == b.shape[1], "matmul: K differs");
  VT_CHECK(out.shape[0] == a.shape[0] && out.shape[1] == b.shape[0], "matmul: bad output shape");
}

}  // namespace

void MatmulBT(Queue& q, Tensor& out, const Tensor& a, const Tensor& b) {
  CheckMatmul(out, a, b);
  VT_CHECK(!IsBlockQuant(b.dtype), "MatmulBT: float weight expected");
  reinterpret_cast<MatmulFn>(GetOp(OpId::kMatmulBT, q.device.type))(q, out, a, b);
}

void MatmulBTQuant(Queue& q, Tensor& out, const Tensor& a, const Tensor& b) {
  CheckMatmul(out, a, b);
  VT_CHECK(b.dtype == DType::kQ8_0, "MatmulBTQuant: Q8_0 weight expected");
  reinterpret_cast<MatmulFn>(GetOp(OpId::kMatmulBTQuant, q.device.type))(q, out, a, b);
}

void Embedding(Queue& q, Tensor& out, const Tensor& table, const Tensor& ids) {
  VT_CHECK(out.rank == 2 && table.rank == 2 && ids.rank == 1, "embedding: bad rank");
  VT_CHECK(out.dtype == DType::kF32 && ids.dtype == DType::kI32, "embedding: bad dtype");
  VT_CHECK(out.shape[0] == ids.shape[0] && out.shape[1] == table.shape[1], "embedding: bad shape");
  reinterpret_cast<EmbeddingFn>(GetOp(OpId::kEmbedding, q.device.type))(q, out, table, ids);
}

}  // namespace vt
