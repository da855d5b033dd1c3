// Host weights.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vt/tensor.h"

namespace vllm {

// A weight as the loader leaves it: its bytes, and a device copy made on first use.
struct OwnedTensor {
  std::vector<uint8_t> bytes;
  vt::DType dtype = vt::DType::kF32;
  int rank = 0;
  int64_t shape[vt::kMaxRank] = {0, 0, 0, 0};
  bool nk = false;  // shape is [out, in], the operand order of MatmulBT

  // Storage-layout markers with the meanings of vt::Tensor. Whoever builds a view over `bytes` or
  // `d_dev` must carry them or refuse them.
  bool repacked = false;          // set by the loader on an i8mm host
  bool q8_0_aligned = false;      // set by a loader that targets CUDA
  bool elem_kn_repacked = false;  // set by the loader when VT_CPU_ELEM_KN_REPACK=1

  // The bytes on the device, uploaded once, in the order `bytes` has.
  mutable std::shared_ptr<void> d_dev;

  // A host view over `bytes`.
  vt::Tensor View() const;
};

// FP4 weight in two parts: E2M1 pairs [N, K / 2] and an F32 scale for each 16 values [N, K / 16].
// Loaders fill both as they are on disk; neither part is ever rewritten.
struct Nvfp4Weight {
  OwnedTensor packed;
  OwnedTensor scale;
};

// The values of `w` as floats, row-major.
std::vector<float> WeightToFloats(const OwnedTensor& w);

}  // namespace vllm
