#include "vllm/models/harrier.h"

#include "vllm/models/elementwise.h"

namespace vllm {

using dense_attn::Dev;
using dense_attn::Project;
using dense_attn::ResidentWeight;
using dense_attn::Reshape;
using dense_attn::Scratch;

HarrierModel LoadHarrier(const GgufFile& file, const HarrierConfig& cfg,
                         const LoadPolicy& policy) {
  const int64_t h = cfg.hidden;
  HarrierModel m;
  m.cfg = cfg;
  m.embed = LoadPlainWeight(file, "token_embd", cfg.vocab, h);
  for (int64_t i = 0; i < cfg.layers; ++i) {
    const std::string blk = "blk." + std::to_string(i) + ".";
    HarrierLayer l;
    l.attn_norm = LoadPlainWeight(file, blk + "attn_norm", 1, h);
    l.gate_value = LoadMatmulWeight(file, policy, blk + "gate_value", 2 * h, h);
    l.attn_out = LoadMatmulWeight(file, policy, blk + "attn_out", h, h);
    l.ffn_norm = LoadPlainWeight(file, blk + "ffn_norm", 1, h);
    l.gate_up = LoadMatmulWeight(file, policy, blk + "gate_up", 2 * cfg.ffn, h);
    l.down = LoadMatmulWeight(file, policy, blk + "down", h, cfg.ffn);
    m.layers.push_back(std::move(l));
  }
  m.final_norm = LoadPlainWeight(file, "final_norm", 1, h);
  m.lm_head = LoadMatmulWeight(file, policy, "lm_head", cfg.vocab, h);
  return m;
}

std::vector<float> HarrierForward(Dev d, const HarrierModel& m, const std::vector<int32_t>& ids) {
  const int64_t t = static_cast<int64_t>(ids.size()), h = m.cfg.hidden;
  Scratch id_buf(d, vt::DType::kI32, {t}, ids.data());
  Scratch x_buf(d, vt::DType::kF32, {t, h});
  vt::Embedding(d.q, x_buf.t(), ResidentWeight(d, m.embed), id_buf.t());
  std::vector<float> x = x_buf.ToHost();

  for (const HarrierLayer& l : m.layers) {
    // A gate stands in for attention: the residency path is what this tree is about.
    const auto mixed = RmsNorm(x, WeightToFloats(l.attn_norm));
    const auto gated = SiluAndMul(Project(d, mixed, t, l.gate_value), static_cast<size_t>(h));
    AddTo(x, Project(d, gated, t, l.attn_out));
    const auto normed = RmsNorm(x, WeightToFloats(l.ffn_norm));
    const auto act = SiluAndMul(Project(d, normed, t, l.gate_up), static_cast<size_t>(m.cfg.ffn));
    AddTo(x, Project(d, act, t, l.down));
  }

  const auto last = RmsNorm(x, WeightToFloats(m.final_norm));
  Scratch in(d, vt::DType::kF32, {t * h}, last.data());
  Scratch logits(d, vt::DType::kF32, {t, m.cfg.vocab});
  const vt::Tensor head = ResidentWeight(d, m.lm_head, {m.cfg.vocab, h});
  dense_attn::Gemm(d, logits.t(), Reshape(in.t(), {t, h}), head);
  return logits.ToHost();
}

}  // namespace vllm
