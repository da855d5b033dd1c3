// CUDA GEMMs against a float64 reference; one JSON line per case. Exits 77 without a usable GPU.
#include "check.h"
#include "vllm/models/basalt.h"
#include "vllm/weights.h"
#include "vt/ops.h"
#include "vt/weight_layout.h"

using test::Encode;
using test::Encoded;
using vt::DType;

namespace {

vllm::dense_attn::Dev Cuda() {
  static vt::Queue q{{vt::DeviceType::kCUDA, 0}, nullptr};
  return {vt::GetBackend(vt::DeviceType::kCUDA), q};
}

std::vector<float> Run(decltype(&vt::MatmulBT) op, const std::vector<float>& x, int64_t m,
                       DType t, const std::vector<int64_t>& shape,
                       const std::vector<uint8_t>& bytes, bool aligned) {
  const vllm::dense_attn::Dev d = Cuda();
  vllm::dense_attn::Scratch w(d, t, shape, bytes.data());
  vllm::dense_attn::Scratch in(d, DType::kF32, {m, shape[1]}, x.data());
  vllm::dense_attn::Scratch out(d, DType::kF32, {m, shape[0]});
  w.t().q8_0_aligned = aligned;
  op(d.q, out.t(), in.t(), w.t());
  return out.ToHost();
}

void Report(const char* layout, int64_t m, int64_t n, int64_t k, double err, bool same_bits) {
  std::printf("{\"layout\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, \"rel_error\": %.3g, "
              "\"same_bits_as_plain\": %s}\n",
              layout, static_cast<long long>(m), static_cast<long long>(n),
              static_cast<long long>(k), err, same_bits ? "true" : "false");
  test::Expect(err < 1e-5 && same_bits, layout);
}

void Quant(int64_t m, int64_t n, int64_t k) {
  const auto x = test::Random(static_cast<size_t>(m * k), 7);
  Encoded w = Encode(test::Random(static_cast<size_t>(n * k), 8), DType::kQ8_0);
  const auto ref = test::MatmulRef(Encode(x, DType::kQ8_0).values, w.values, m, n, k);
  const auto plain = Run(vt::MatmulBTQuant, x, m, DType::kQ8_0, {n, k}, w.bytes, false);
  Report("plain", m, n, k, test::RelError(plain, ref), true);
  vt::cpu::RepackQ8_0Cuda(w.bytes.data(), n, k);
  const auto aligned = Run(vt::MatmulBTQuant, x, m, DType::kQ8_0, {n, k}, w.bytes, true);
  Report("q8_0_aligned", m, n, k, test::RelError(aligned, ref), test::SameBits(aligned, plain));
}

void Float(DType t, const char* name, int64_t m, int64_t n, int64_t k) {
  const auto x = test::Random(static_cast<size_t>(m * k), 9);
  const Encoded w = Encode(test::Random(static_cast<size_t>(n * k), 10), t);
  const auto ref = test::MatmulRef(Encode(x, DType::kF32).values, w.values, m, n, k);
  const auto got = Run(vt::MatmulBT, x, m, t, {n, k}, w.bytes, false);
  Report(name, m, n, k, test::RelError(got, ref), true);
}

// The model that carries the marker gives the same bits with either layout.
void Basalt() {
  vllm::GgufFile f;
  unsigned seed = 50;
  const auto add = [&](const char* name, DType t, int64_t n, int64_t k) {
    f.Add(name, {t, n, k, Encode(test::Random(static_cast<size_t>(n * k), ++seed), t).bytes});
  };
  add("skip", DType::kF32, 64, 64);
  add("q_down", DType::kQ8_0, 32, 64);
  add("q_up", DType::kQ8_0, 96, 32);
  add("out_proj", DType::kQ8_0, 64, 96);
  vllm::LoadPolicy align;
  align.q8_0_align = true;
  const auto x = test::Random(2 * 64, 42);
  const auto plain = vllm::BasaltForward(Cuda(), vllm::LoadBasalt(f, 64, 32, 96, {}), x, 2);
  const auto aligned = vllm::BasaltForward(Cuda(), vllm::LoadBasalt(f, 64, 32, 96, align), x, 2);
  Report("basalt", 2, 64, 64, 0.0, test::SameBits(aligned, plain));
}

}  // namespace

int main() {
  try {
    const vllm::dense_attn::Dev d = Cuda();
    d.b.Free(d.b.Alloc(16));
  } catch (const std::runtime_error& e) {
    std::printf("{\"skipped\": \"no usable CUDA device\"}\n");
    std::fprintf(stderr, "%s\n", e.what());
    return 77;
  }
  for (const int64_t m : {1, 3, 4, 9}) {
    for (const int64_t n : {1, 6, 64}) {
      for (const int64_t k : {32, 96, 544, 4096}) Quant(m, n, k);
    }
  }
  Float(DType::kF32, "f32", 3, 5, 7);
  Float(DType::kF16, "f16", 2, 9, 65);
  Float(DType::kBF16, "bf16", 1, 33, 300);
  Basalt();
  return test::Result();
}
