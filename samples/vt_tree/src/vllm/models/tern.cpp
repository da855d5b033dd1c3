#include "vllm/models/tern.h"

#include <algorithm>
#include <numeric>

namespace vllm {
namespace {

using dense_attn::Dev;
using dense_attn::MakeTensor;
using dense_attn::Scratch;

// `rows` rows of a stacked tower from row `first`.
vt::Tensor ExpertRows(const vt::Tensor& tower, int64_t first, int64_t rows) {
  vt::Tensor t = tower;
  t.data = static_cast<uint8_t*>(tower.data) +
           static_cast<size_t>(first) * vt::RowSizeBytes(tower.dtype, tower.shape[1]);
  t.shape[0] = rows;
  return t;
}

// Expert `e` of a weight with `rows` rows an expert. Callers see to it that the rows are plain.
vt::Tensor ExpertBand(const OwnedTensor& w, vt::Device device, int64_t e, int64_t rows) {
  const size_t row = vt::RowSizeBytes(w.dtype, w.shape[1]);
  return MakeTensor(const_cast<uint8_t*>(w.bytes.data()) + static_cast<size_t>(e * rows) * row,
                    w.dtype, device, {rows, w.shape[1]});
}

// Both parts as they are on disk. The FP4 payload has a type that no rewriter accepts.
OwnedTensor PlainPart(const GgufTensor& src) {
  OwnedTensor w;
  w.dtype = src.dtype;
  w.rank = 2;
  w.shape[0] = src.n;
  w.shape[1] = src.k;
  w.bytes = src.data;
  return w;
}

std::vector<float> Gemv(Dev d, const std::vector<float>& x, const vt::Tensor& w) {
  Scratch in(d, vt::DType::kF32, {1, w.shape[1]}, x.data());
  Scratch out(d, vt::DType::kF32, {1, w.shape[0]});
  vt::MatmulBTQuant(d.q, out.t(), in.t(), w);
  return out.ToHost();
}

float Mean(const std::vector<float>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0F) / static_cast<float>(v.size());
}

}  // namespace

TernMoe LoadTern(const GgufFile& file, int64_t experts, int64_t hidden, int64_t gate_rows,
                 const LoadPolicy& policy) {
  TernMoe m;
  m.experts = experts;
  const bool repack = policy.quant_repack;
  m.gate_rows = gate_rows;
  const GgufTensor& gates = file.Get("gates");
  VT_CHECK(gates.n % experts == 0 && gates.n / experts >= gate_rows, "tern: bad gate tower");
  m.gates = KeepQuantBlocks(gates, gates.n, hidden, 0, repack);
  m.out = KeepQuantBlocks(file.Get("out"), experts * hidden, hidden, 0, repack, false);
  m.router = LoadMatmulWeight(file, policy, "router", experts, hidden);
  m.shared.packed = PlainPart(file.Get("shared.packed"));
  m.shared.scale = PlainPart(file.Get("shared.scale"));
  return m;
}

std::vector<float> Nvfp4ToFloats(const Nvfp4Weight& w) {
  static constexpr float kE2M1[8] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
  const vt::Tensor packed =
      MakeTensor(const_cast<uint8_t*>(w.packed.bytes.data()), vt::DType::kU8, vt::Device{},
                 {w.packed.shape[0], w.packed.shape[1]});
  const std::vector<float> scale = WeightToFloats(w.scale);
  std::vector<float> out(static_cast<size_t>(packed.Numel()) * 2);
  for (size_t i = 0; i < out.size(); ++i) {
    const unsigned code = packed.Ptr<const uint8_t>()[i / 2] >> (i % 2 * 4) & 0xfU;
    const float v = kE2M1[code & 7U] * scale[i / 16];
    out[i] = (code & 8U) != 0 ? -v : v;
  }
  return out;
}

std::vector<float> TernForward(Dev d, const TernMoe& m, const std::vector<float>& x) {
  VT_CHECK(d.q.device.type == vt::DeviceType::kCPU, "tern: the experts stay in host memory");
  const int64_t hidden = m.out.shape[1], band = m.gates.shape[0] / m.experts;

  // Too small for a kernel: the scores are summed on the host.
  const std::vector<float> router = WeightToFloats(m.router);
  std::vector<float> score(static_cast<size_t>(m.experts));
  for (size_t e = 0; e < score.size(); ++e) {
    score[e] = std::inner_product(x.begin(), x.end(),
                                  router.begin() + static_cast<int64_t>(e) * hidden, 0.0F);
  }
  const int64_t best = std::max_element(score.begin(), score.end()) - score.begin();

  const float gate = Mean(Gemv(d, x, ExpertRows(m.gates.View(), best * band, m.gate_rows)));
  VT_CHECK(!m.out.repacked && !m.out.q8_0_aligned,
           "tern: a rewritten tower cannot be cut; load with VT_CPU_QUANT_REPACK=0");
  std::vector<float> y = Gemv(d, x, ExpertBand(m.out, d.q.device, best, hidden));

  const float shared = Mean(Nvfp4ToFloats(m.shared));
  for (float& v : y) v = v * gate + shared;
  return y;
}

}  // namespace vllm
