#include "vllm/models/basalt.h"

#include "vllm/models/elementwise.h"
#include "vllm/models/resident_weight.h"

namespace vllm {
namespace {

using dense_attn::Dev;
using dense_attn::Scratch;

// The view of a quantised projection on `d`, in the layout the loader chose.
vt::Tensor StageProjection(Dev d, const OwnedTensor& w) {
  VT_CHECK(!w.elem_kn_repacked, "basalt: projections are quantised");
  if (d.q.device.type == vt::DeviceType::kCPU) {
    VT_CHECK(!w.q8_0_aligned, "basalt: VT_BASALT_Q8_0_ALIGN is for CUDA; no CPU kernel reads it");
    return w.View();
  }
  VT_CHECK(!w.repacked, "basalt: a weight interleaved for the CPU cannot be staged on a device");
  VT_CHECK(!w.q8_0_aligned || d.q.device.type == vt::DeviceType::kCUDA,
           "basalt: only the CUDA GEMM reads an aligned weight");
  if (!w.d_dev) {
    void* p = d.b.Alloc(w.bytes.size());
    d.b.Copy(d.q, p, w.bytes.data(), w.bytes.size());
    vt::Backend* backend = &d.b;
    w.d_dev = std::shared_ptr<void>(p, [backend](void* q) { backend->Free(q); });
  }
  vt::Tensor t = w.View();
  t.data = w.d_dev.get();
  t.device = d.q.device;
  return t;
}

// Rows [first, first + rows) of a projection that is on `d` as a whole.
vt::Tensor StageRows(Dev d, const OwnedTensor& w, int64_t first, int64_t rows) {
  const vt::Tensor whole = StageProjection(d, w);
  const size_t row_bytes = vt::RowSizeBytes(w.dtype, w.shape[1]);
  vt::Tensor t = whole;
  t.data = static_cast<uint8_t*>(whole.data) + static_cast<size_t>(first) * row_bytes;
  t.shape[0] = rows;
  return t;
}

std::vector<float> Product(Dev d, const std::vector<float>& x, int64_t rows, const vt::Tensor& w) {
  Scratch in(d, vt::DType::kF32, {rows, w.shape[1]}, x.data());
  Scratch out(d, vt::DType::kF32, {rows, w.shape[0]});
  vt::MatmulBTQuant(d.q, out.t(), in.t(), w);
  return out.ToHost();
}

OwnedTensor LoadProjection(const GgufFile& file, const LoadPolicy& policy,
                           const std::string& name, int64_t n, int64_t k, bool allow_align) {
  return KeepQuantBlocks(file.Get(name), n, k, 0, policy.quant_repack,
                         allow_align && policy.q8_0_align);
}

}  // namespace

BasaltAttention LoadBasalt(const GgufFile& file, int64_t hidden, int64_t rank, int64_t heads,
                           const LoadPolicy& policy) {
  BasaltAttention a;
  a.skip = LoadPlainWeight(file, "skip", hidden, hidden);
  a.q_down = LoadProjection(file, policy, "q_down", rank, hidden, true);
  a.q_up = LoadProjection(file, policy, "q_up", heads, rank, true);
  a.out_proj = LoadProjection(file, policy, "out_proj", hidden, heads, false);
  return a;
}

std::vector<float> BasaltForward(Dev d, const BasaltAttention& a, const std::vector<float>& x,
                                 int64_t rows) {
  std::vector<float> y = x;
  for (const OwnedTensor* w : {&a.q_down, &a.q_up, &a.out_proj}) {
    y = Product(d, y, rows, StageProjection(d, *w));
  }
  AddTo(y, dense_attn::Project(d, x, rows, a.skip));
  return y;
}

std::vector<float> BasaltQuery(Dev d, const BasaltAttention& a, const std::vector<float>& x,
                               int64_t rows, int64_t first, int64_t count) {
  const std::vector<float> low = Product(d, x, rows, StageProjection(d, a.q_down));
  return Product(d, low, rows, StageRows(d, a.q_up, first, count));
}

}  // namespace vllm
