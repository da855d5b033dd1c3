#include "vllm/models/osprey.h"

#include "vllm/models/elementwise.h"
#include "vllm/platform.h"

namespace vllm {
namespace {

using dense_attn::Dev;
using dense_attn::MakeTensor;
using dense_attn::Scratch;

// As dense_attn::ResidentWeight, aware of the two layouts a CPU load can leave behind.
vt::Tensor ResidentWeight(Dev d, const OwnedTensor& w, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape.assign(w.shape, w.shape + w.rank);
  if (GetPlatform(d.q.device.type).is_cpu()) {
    vt::Tensor t = MakeTensor(const_cast<uint8_t*>(w.bytes.data()), w.dtype, d.q.device, shape);
    t.repacked = w.repacked;
    t.elem_kn_repacked = w.elem_kn_repacked;
    return t;
  }
  VT_CHECK(!w.repacked, "a weight interleaved for the CPU cannot be staged on a device");
  VT_CHECK(!w.elem_kn_repacked, "a weight transposed for the CPU cannot be staged on a device");
  if (!w.d_dev) {
    void* p = d.b.Alloc(w.bytes.size());
    d.b.Copy(d.q, p, w.bytes.data(), w.bytes.size());
    vt::Backend* backend = &d.b;
    w.d_dev = std::shared_ptr<void>(p, [backend](void* q) { backend->Free(q); });
  }
  return MakeTensor(w.d_dev.get(), w.dtype, d.q.device, shape);
}

std::vector<float> Linear(Dev d, const std::vector<float>& x, int64_t m, const OwnedTensor& w) {
  const vt::Tensor wt = ResidentWeight(d, w);
  Scratch in(d, vt::DType::kF32, {m, w.shape[1]}, x.data());
  Scratch out(d, vt::DType::kF32, {m, w.shape[0]});
  if (vt::IsBlockQuant(w.dtype)) {
    vt::MatmulBTQuant(d.q, out.t(), in.t(), wt);
  } else {
    vt::MatmulBT(d.q, out.t(), in.t(), wt);
  }
  return out.ToHost();
}

}  // namespace

OspreyMlp LoadOsprey(const GgufFile& file, int64_t hidden, int64_t ffn,
                     const LoadPolicy& policy) {
  OspreyMlp m;
  m.gate_up = LoadMatmulWeight(file, policy, "gate_up", 2 * ffn, hidden);
  m.down = LoadMatmulWeight(file, policy, "down", hidden, ffn);
  return m;
}

std::vector<float> OspreyForward(Dev d, const OspreyMlp& m, const std::vector<float>& x,
                                 int64_t rows) {
  const size_t ffn = static_cast<size_t>(m.down.shape[1]);
  return Linear(d, SiluAndMul(Linear(d, x, rows, m.gate_up), ffn), rows, m.down);
}

}  // namespace vllm
