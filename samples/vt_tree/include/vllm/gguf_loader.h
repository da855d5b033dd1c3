// Weights out of a GGUF-like file: named tensors, row-major [out, in].
#pragma once

#include <map>
#include <string>

#include "vllm/weights.h"

namespace vllm {

struct GgufTensor {
  vt::DType dtype = vt::DType::kF32;
  int64_t n = 0;
  int64_t k = 0;
  std::vector<uint8_t> data;
};

class GgufFile {
 public:
  void Add(const std::string& name, GgufTensor t) { tensors_[name] = std::move(t); }
  const GgufTensor& Get(const std::string& name) const;  // throws when there is no such tensor

 private:
  std::map<std::string, GgufTensor> tensors_;
};

// What a loader may do to a weight, decided once per load.
struct LoadPolicy {
  bool quant_repack = false;    // interleave Q8_0 rows for the i8mm CPU GEMM
  bool elem_kn_repack = false;  // transpose float weights for the CPU GEMM
  bool q8_0_align = false;      // split Q8_0 into sections for the CUDA GEMM

  // quant_repack follows the machine (VT_CPU_QUANT_REPACK=0 turns it off); the others are opt-in:
  // VT_CPU_ELEM_KN_REPACK=1, VT_BASALT_Q8_0_ALIGN=1.
  static LoadPolicy FromEnv();
};

// Rows [row_offset, row_offset + n) of a Q8_0 tensor, kept quantised. `cuda_align` wins over
// `repack`; a shape that neither layout can hold stays plain.
OwnedTensor KeepQuantBlocks(const GgufTensor& src, int64_t n, int64_t k, int64_t row_offset,
                            bool repack, bool cuda_align = false);

// A float tensor kept in its own type.
OwnedTensor KeepFloat(const GgufTensor& src, bool elem_kn);

// One [n, k] matmul weight: quantised or float, whichever the file has.
OwnedTensor LoadMatmulWeight(const GgufFile& file, const LoadPolicy& policy,
                             const std::string& name, int64_t n, int64_t k);

// A weight that no GEMM reads (gather table, norm): never rewritten.
OwnedTensor LoadPlainWeight(const GgufFile& file, const std::string& name, int64_t n, int64_t k);

}  // namespace vllm
