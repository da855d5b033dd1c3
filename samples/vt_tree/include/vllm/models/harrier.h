// Harrier: a dense decoder whose weights all go through the shared residency helper.
#pragma once

#include "vllm/gguf_loader.h"
#include "vllm/models/resident_weight.h"

namespace vllm {

struct HarrierConfig {
  int64_t vocab = 0, hidden = 0, ffn = 0, layers = 0;
};

struct HarrierLayer {
  OwnedTensor attn_norm, gate_value, attn_out, ffn_norm, gate_up, down;
};

struct HarrierModel {
  HarrierConfig cfg;
  OwnedTensor embed;
  std::vector<HarrierLayer> layers;
  OwnedTensor final_norm, lm_head;
};

HarrierModel LoadHarrier(const GgufFile& file, const HarrierConfig& cfg, const LoadPolicy& policy);

// Logits [tokens, vocab].
std::vector<float> HarrierForward(dense_attn::Dev d, const HarrierModel& m,
                                  const std::vector<int32_t>& ids);

}  // namespace vllm
