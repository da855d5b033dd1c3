// Views and scratch buffers shared by the models.
#pragma once

#include <vector>

#include "vt/ops.h"

namespace vllm::dense_attn {

struct Dev {
  vt::Backend& b;
  vt::Queue& q;
};

inline vt::Tensor MakeTensor(void* data, vt::DType dtype, vt::Device device,
                             const std::vector<int64_t>& shape) {
  return vt::Tensor::Contiguous(data, dtype, device, shape);
}

inline vt::Tensor Reshape(const vt::Tensor& src, const std::vector<int64_t>& shape) {
  return MakeTensor(src.data, src.dtype, src.device, shape);
}

// A device buffer for activations, filled from host memory when `host` is given.
class Scratch {
 public:
  Scratch(Dev d, vt::DType dtype, const std::vector<int64_t>& shape, const void* host = nullptr)
      : d_(d) {
    vt::Tensor t = MakeTensor(nullptr, dtype, d.q.device, shape);
    bytes_ = t.Bytes();
    t.data = d.b.Alloc(bytes_ > 0 ? bytes_ : 1);
    t_ = t;
    if (host != nullptr) d_.b.Copy(d_.q, t_.data, host, bytes_);
  }
  ~Scratch() { d_.b.Free(t_.data); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  vt::Tensor& t() { return t_; }

  std::vector<float> ToHost() {
    VT_CHECK(t_.dtype == vt::DType::kF32, "Scratch: f32 expected");
    std::vector<float> host(bytes_ / sizeof(float));
    d_.b.Copy(d_.q, host.data(), t_.data, bytes_);
    return host;
  }

 private:
  Dev d_;
  size_t bytes_ = 0;
  vt::Tensor t_;
};

}  // namespace vllm::dense_attn
