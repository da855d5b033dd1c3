// Weight residency and the projections built on it, shared by the models.
#pragma once

#include <memory>

#include "vllm/models/device_glue.h"
#include "vllm/platform.h"
#include "vllm/weights.h"

namespace vllm::dense_attn {

// The view of `w` that a kernel on `d` may read: the host bytes themselves on the CPU, else a
// device copy made on first use. `shape` defaults to the weight's own.
inline vt::Tensor ResidentWeight(Dev d, const OwnedTensor& w, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape.assign(w.shape, w.shape + w.rank);
  if (GetPlatform(d.q.device.type).is_cpu())
    return MakeTensor(const_cast<uint8_t*>(w.bytes.data()), w.dtype, d.q.device, shape);
  if (!w.d_dev) {
    void* p = d.b.Alloc(w.bytes.size());
    d.b.Copy(d.q, p, w.bytes.data(), w.bytes.size());
    vt::Backend* backend = &d.b;
    w.d_dev = std::shared_ptr<void>(p, [backend](void* q) { backend->Free(q); });
  }
  return MakeTensor(w.d_dev.get(), w.dtype, d.q.device, shape);
}

// out = x @ w^T with the GEMM that fits the weight's type.
inline void Gemm(Dev d, vt::Tensor& out, const vt::Tensor& x, const vt::Tensor& w) {
  if (vt::IsBlockQuant(w.dtype)) {
    vt::MatmulBTQuant(d.q, out, x, w);
  } else {
    vt::MatmulBT(d.q, out, x, w);
  }
}

// x[m,K] @ w[N,K]^T -> [m,N], activations on the host.
inline std::vector<float> Project(Dev d, const std::vector<float>& x, int64_t m,
                                  const OwnedTensor& w) {
  const vt::Tensor wt = ResidentWeight(d, w);
  Scratch in(d, vt::DType::kF32, {m, w.shape[1]}, x.data());
  Scratch out(d, vt::DType::kF32, {m, w.shape[0]});
  Gemm(d, out.t(), in.t(), wt);
  return out.ToHost();
}

}  // namespace vllm::dense_attn
