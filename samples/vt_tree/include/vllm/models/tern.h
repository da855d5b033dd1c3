// Tern: a mixture of experts whose expert weights are stacked into towers.
#pragma once

#include "vllm/gguf_loader.h"
#include "vllm/models/device_glue.h"

namespace vllm {

struct TernMoe {
  int64_t experts = 0;
  int64_t gate_rows = 0;  // rows used of an expert's band in `gates`; a draft head owns the rest
  OwnedTensor gates;      // [experts * band, hidden], Q8_0
  OwnedTensor out;        // [experts * hidden, hidden], Q8_0
  OwnedTensor router;     // [experts, hidden]
  Nvfp4Weight shared;     // any shape
};

TernMoe LoadTern(const GgufFile& file, int64_t experts, int64_t hidden, int64_t gate_rows,
                 const LoadPolicy& policy);

// One row through the expert that the router scores highest, scaled by the mean of that expert's
// gate rows, plus the mean of the shared weight.
std::vector<float> TernForward(dense_attn::Dev d, const TernMoe& m, const std::vector<float>& x);

// The values of an FP4 weight, [N, K].
std::vector<float> Nvfp4ToFloats(const Nvfp4Weight& w);

}  // namespace vllm
