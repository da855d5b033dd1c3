// Basalt: low-rank attention projections whose Q8_0 weights may be laid out for CUDA.
#pragma once

#include "vllm/gguf_loader.h"
#include "vllm/models/device_glue.h"

namespace vllm {

struct BasaltAttention {
  OwnedTensor skip;      // [hidden, hidden], float, never rewritten
  OwnedTensor q_down;    // [rank, hidden]
  OwnedTensor q_up;      // [heads, rank]
  OwnedTensor out_proj;  // [hidden, heads]
};

BasaltAttention LoadBasalt(const GgufFile& file, int64_t hidden, int64_t rank, int64_t heads,
                           const LoadPolicy& policy);

std::vector<float> BasaltForward(dense_attn::Dev d, const BasaltAttention& a,
                                 const std::vector<float>& x, int64_t rows);

// `count` channels of the query from `first`: those of a head.
std::vector<float> BasaltQuery(dense_attn::Dev d, const BasaltAttention& a,
                               const std::vector<float>& x, int64_t rows, int64_t first,
                               int64_t count);

}  // namespace vllm
