#include "vllm/gguf_loader.h"

#include <cstdlib>

#include "vt/weight_layout.h"

namespace vllm {
namespace {

bool EnvOn(const char* name) {
  const char* v = std::getenv(name);
  return v != nullptr && v[0] == '1';
}

OwnedTensor EmptyMatrix(vt::DType dtype, int64_t n, int64_t k) {
  OwnedTensor w;
  w.dtype = dtype;
  w.rank = 2;
  w.shape[0] = n;
  w.shape[1] = k;
  w.nk = true;
  return w;
}

}  // namespace

const GgufTensor& GgufFile::Get(const std::string& name) const {
  const auto it = tensors_.find(name);
  VT_CHECK(it != tensors_.end(), "gguf: no tensor " + name);
  return it->second;
}

LoadPolicy LoadPolicy::FromEnv() {
  LoadPolicy p;
  p.quant_repack = vt::cpu::QuantRepackActive();
  p.elem_kn_repack = EnvOn("VT_CPU_ELEM_KN_REPACK");
  p.q8_0_align = EnvOn("VT_BASALT_Q8_0_ALIGN");
  return p;
}

OwnedTensor KeepQuantBlocks(const GgufTensor& src, int64_t n, int64_t k, int64_t row_offset,
                            bool repack, bool cuda_align) {
  VT_CHECK(vt::IsBlockQuant(src.dtype), "gguf: a quantised tensor expected");
  VT_CHECK(k == src.k && row_offset >= 0 && row_offset + n <= src.n, "gguf: bad row range");
  const size_t row = vt::RowSizeBytes(src.dtype, k);
  const uint8_t* begin = src.data.data() + static_cast<size_t>(row_offset) * row;

  OwnedTensor w = EmptyMatrix(src.dtype, n, k);
  w.bytes.assign(begin, begin + static_cast<size_t>(n) * row);
  if (cuda_align && vt::cpu::RepackQ8_0CudaEligible(w.dtype, n, k)) {
    vt::cpu::RepackQ8_0Cuda(w.bytes.data(), n, k);
    w.q8_0_aligned = true;
    return w;
  }
  if (repack && vt::cpu::QuantRepackEligible(w.dtype, n, k)) {
    vt::cpu::QuantRepackWeight(w.dtype, w.bytes.data(), n, k);
    w.repacked = true;
  }
  return w;
}

OwnedTensor KeepFloat(const GgufTensor& src, bool elem_kn) {
  OwnedTensor w = EmptyMatrix(src.dtype, src.n, src.k);
  w.bytes = src.data;
  if (elem_kn && vt::cpu::ElemRepackEligible(w.dtype, src.n, src.k)) {
    vt::cpu::ElemRepackWeight(w.dtype, w.bytes.data(), src.n, src.k);
    w.elem_kn_repacked = true;
  }
  return w;
}

OwnedTensor LoadMatmulWeight(const GgufFile& file, const LoadPolicy& policy,
                             const std::string& name, int64_t n, int64_t k) {
  const GgufTensor& src = file.Get(name);
  VT_CHECK(src.n == n && src.k == k, "gguf: unexpected shape of " + name);
  if (vt::IsBlockQuant(src.dtype)) return KeepQuantBlocks(src, n, k, 0, policy.quant_repack);
  return KeepFloat(src, policy.elem_kn_repack);
}

OwnedTensor LoadPlainWeight(const GgufFile& file, const std::string& name, int64_t n, int64_t k) {
  const GgufTensor& src = file.Get(name);
  VT_CHECK(src.n == n && src.k == k, "gguf: unexpected shape of " + name);
  return KeepFloat(src, /*elem_kn=*/false);
}

}  // namespace vllm
