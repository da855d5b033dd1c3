#include "vllm/weights.h"

#include <cstring>

namespace vllm {

vt::Tensor OwnedTensor::View() const {
  vt::Tensor t = vt::Tensor::Contiguous(const_cast<uint8_t*>(bytes.data()), dtype, vt::Device{},
                                        std::vector<int64_t>(shape, shape + rank));
  t.repacked = repacked;
  t.q8_0_aligned = q8_0_aligned;
  return t;
}

std::vector<float> WeightToFloats(const OwnedTensor& w) {
  int64_t count = 1;
  for (int i = 0; i < w.rank; ++i) count *= w.shape[i];
  VT_CHECK(w.bytes.size() == vt::RowSizeBytes(w.dtype, count), "WeightToFloats: size mismatch");
  std::vector<float> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    if (w.dtype == vt::DType::kQ8_0) {
      vt::BlockQ8_0 b;
      std::memcpy(&b, w.bytes.data() + static_cast<size_t>(i / vt::kQ8Block) * sizeof b, sizeof b);
      out[static_cast<size_t>(i)] = vt::F16ToF32(b.d) * static_cast<float>(b.qs[i % vt::kQ8Block]);
    } else {
      out[static_cast<size_t>(i)] = vt::LoadFloat(w.bytes.data(), w.dtype, i);
    }
  }
  return out;
}

}  // namespace vllm
