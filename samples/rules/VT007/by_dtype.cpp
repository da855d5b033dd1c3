// A test of the dtype rules out the markers whose rewrite never meets it, however the test is spelled.
#include "prelude.h"

struct Block {
  int64_t elements;
  int64_t bytes;
};

// A look-up that a predicate asks.
const Block* FindBlock(DType dtype) {
  switch (dtype) {
    case DType::kQ8_0: {
      static constexpr Block b{32, 34};
      return &b;
    }
    case DType::kQ4_K: {
      static constexpr Block b{256, 144};
      return &b;
    }
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      return nullptr;
  }
  return nullptr;
}

bool InBlocks(DType dtype) { return FindBlock(dtype) != nullptr; }

bool WidthOf(DType dtype, int* width) {
  if (dtype == DType::kF32) {
    *width = 4;
    return true;
  }
  if (dtype == DType::kF16 || dtype == DType::kBF16) {
    *width = 2;
    return true;
  }
  return false;
}

void QuantGemv(const Weight& w, const float* x, float* out);

void ElseOfAPredicate(const Weight& w, const float* x, float* out) {
  if (InBlocks(w.dtype)) {
    QuantGemv(w, x, out);
  } else {
    RawGemv(w.bytes.data(), w.shape[0], w.shape[1], x, out);  // want VT007 elem_kn_repacked
  }
}

void UnderAPredicate(const Weight& w, const float* x, float* out) {
  const DType dtype = w.dtype;
  SNIPPET_CHECK(InBlocks(dtype), "a block-quantised weight");
  RawGemv(w.bytes.data(), w.shape[0], w.shape[1], x, out);  // want VT007 repacked q8_0_aligned
}

void OfTheSameDtype(const Weight& w, const Weight& v, const float* x, float* out) {
  SNIPPET_CHECK(InBlocks(w.dtype) && w.dtype == v.dtype, "two block-quantised weights of one kind");
  RawGemv(v.bytes.data(), v.shape[0], v.shape[1], x, out);  // want VT007 repacked q8_0_aligned
}

void WithAnOutParameter(const Weight& w, const float* x, float* out) {
  int width = 0;
  if (!WidthOf(w.dtype, &width)) return;
  RawGemv(w.bytes.data(), w.shape[0], w.shape[1], x, out);  // want VT007 elem_kn_repacked
}

// A decoder that takes one dtype and refuses the rest: what it gives is no repacked byte.
std::vector<float> Floats(const Weight& w) {
  std::vector<float> out(static_cast<size_t>(w.shape[0] * w.shape[1]));
  if (w.dtype == DType::kF32) {
    SNIPPET_CHECK(!w.elem_kn_repacked, "a plain float weight");
    std::memcpy(out.data(), w.bytes.data(), out.size() * sizeof(float));
  } else {
    SNIPPET_CHECK(false, "only f32");
  }
  return out;
}

float Sum(const std::vector<float>& v) {
  float sum = 0;
  for (size_t i = 0; i < v.size(); ++i) sum += v[i];
  return sum;
}

// ok
float SumOf(const Weight& w) { return Sum(Floats(w)); }

struct Experts {
  std::vector<Weight> gate;
};

// Every expert is looked at before any is read.
bool AllPlainFloats(const Experts& experts) {
  for (size_t e = 0; e < experts.gate.size(); ++e) {
    if (experts.gate[e].dtype != DType::kBF16 || experts.gate[e].elem_kn_repacked) return false;
  }
  return true;
}

// ok
void EachExpert(const Experts& experts, const float* x, float* out) {
  if (!AllPlainFloats(experts)) throw std::runtime_error("experts");
  for (size_t i = 0; i < experts.gate.size(); ++i) {
    RawGemv(experts.gate[i].bytes.data(), experts.gate[i].shape[0], experts.gate[i].shape[1], x, out);
  }
}

// Not every one: a round may be left early without a word.
bool SomePlainFloats(const Experts& experts) {
  for (size_t e = 0; e < experts.gate.size(); ++e) {
    if (experts.gate[e].shape[0] == 0) continue;
    if (experts.gate[e].dtype != DType::kBF16) return false;
  }
  return true;
}

void SomeExperts(const Experts& experts, const float* x, float* out) {
  if (!SomePlainFloats(experts)) throw std::runtime_error("experts");
  for (size_t i = 0; i < experts.gate.size(); ++i) {
    // want VT007 repacked q8_0_aligned elem_kn_repacked
    RawGemv(experts.gate[i].bytes.data(), experts.gate[i].shape[0], experts.gate[i].shape[1], x, out);
  }
}
