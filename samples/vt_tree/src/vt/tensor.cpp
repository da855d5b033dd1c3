#include "vt/tensor.h"

namespace vt {

Tensor Tensor::Contiguous(void* data, DType dtype, Device device,
                          const std::vector<int64_t>& shape) {
  VT_CHECK(shape.size() <= static_cast<size_t>(kMaxRank), "Contiguous: rank above kMaxRank");
  Tensor t;
  t.data = data;
  t.dtype = dtype;
  t.device = device;
  t.rank = static_cast<int>(shape.size());
  int64_t step = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    t.shape[i] = shape[static_cast<size_t>(i)];
    t.stride[i] = step;
    step *= t.shape[i];
  }
  return t;
}

int64_t Tensor::Numel() const {
  int64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= shape[i];
  return n;
}

size_t Tensor::Bytes() const { return RowSizeBytes(dtype, Numel()); }

Tensor Tensor::View(const std::vector<int64_t>& new_shape) const {
  VT_CHECK(!repacked && !q8_0_aligned && !elem_kn_repacked,
           "View: a rewritten weight keeps its shape");
  Tensor t = Contiguous(data, dtype, device, new_shape);
  VT_CHECK(t.Numel() == Numel(), "View: element count differs");
  return t;
}

Tensor Tensor::Slice(int64_t start, int64_t stop) const {
  VT_CHECK(!repacked && !q8_0_aligned && !elem_kn_repacked,
           "Slice: a rewritten weight cannot be cut by rows");
  VT_CHECK(rank >= 1 && 0 <= start && start <= stop && stop <= shape[0], "Slice: bad row range");
  Tensor t = *this;
  t.shape[0] = stop - start;
  t.data = static_cast<uint8_t*>(data) + RowSizeBytes(dtype, start * stride[0]);
  return t;
}

}  // namespace vt
