// Osprey: a gated MLP with a residency helper of its own.
#pragma once

#include "vllm/gguf_loader.h"
#include "vllm/models/device_glue.h"

namespace vllm {

struct OspreyMlp {
  OwnedTensor gate_up, down;
};

OspreyMlp LoadOsprey(const GgufFile& file, int64_t hidden, int64_t ffn, const LoadPolicy& policy);

std::vector<float> OspreyForward(dense_attn::Dev d, const OspreyMlp& m,
                                 const std::vector<float>& x, int64_t rows);

}  // namespace vllm
