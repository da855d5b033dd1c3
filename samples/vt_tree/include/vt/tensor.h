// The non-owning view every kernel takes.
#pragma once

#include <initializer_list>
#include <vector>

#include "vt/device.h"
#include "vt/dtype.h"

namespace vt {

inline constexpr int kMaxRank = 4;

struct Tensor {
  void* data = nullptr;
  DType dtype = DType::kF32;
  Device device;
  int rank = 0;
  int64_t shape[kMaxRank] = {0, 0, 0, 0};
  int64_t stride[kMaxRank] = {0, 0, 0, 0};  // in elements

  // The three storage-layout markers. Each says that the bytes were reordered at load time while
  // dtype, shape and byte count stayed the same, so nothing but the marker tells the layouts apart.
  // They exclude one another.

  // Q8_0 rows interleaved four at a time (BlockQ8_0x4). Only the CPU quantised GEMM reads this.
  bool repacked = false;
  // Q8_0 as one section of all quants followed by one of all scales, so that a CUDA thread can use
  // 16-byte loads. Only the CUDA quantised GEMM reads this.
  bool q8_0_aligned = false;
  // A float weight whose shape says [N, K] and whose bytes are [K, N]. Only the CPU float MatmulBT
  // reads this.
  bool elem_kn_repacked = false;

  // A plain row-major view of `data`. Throws when the rank is above kMaxRank.
  static Tensor Contiguous(void* data, DType dtype, Device device,
                           const std::vector<int64_t>& shape);

  int64_t Numel() const;
  size_t Bytes() const;

  // Another shape over the same bytes. Throws on a marked tensor: no layout survives a reshape.
  Tensor View(const std::vector<int64_t>& new_shape) const;

  // Rows [start, stop) of dimension 0. Throws on a marked tensor: no layout can be cut by rows.
  Tensor Slice(int64_t start, int64_t stop) const;

  template <typename T>
  T* Ptr() const {
    return static_cast<T*>(data);
  }
};

}  // namespace vt
