// The models on the CPU against a float64 reference, with weights in the layout the loader chose.
#include <algorithm>

#include "check.h"
#include "vllm/models/basalt.h"
#include "vllm/models/harrier.h"
#include "vllm/models/osprey.h"
#include "vllm/models/tern.h"
#include "vt/weight_layout.h"

using test::Expect;
using test::ExpectThrow;
using vt::DType;

namespace {

unsigned seed = 100;

vllm::GgufTensor Random(DType t, int64_t n, int64_t k) {
  return {t, n, k, test::Encode(test::Random(static_cast<size_t>(n * k), ++seed), t).bytes};
}

using Vec = std::vector<double>;

Vec Values(const vllm::GgufTensor& t) {
  Vec v(static_cast<size_t>(t.n * t.k));
  for (size_t i = 0; i < v.size(); ++i) {
    if (t.dtype == DType::kQ8_0) {
      vt::BlockQ8_0 b;
      std::memcpy(&b, t.data.data() + i / 32 * sizeof b, sizeof b);
      v[i] = double{vt::F16ToF32(b.d)} * b.qs[i % 32];
    } else {
      v[i] = double{vt::LoadFloat(t.data.data(), t.dtype, static_cast<int64_t>(i))};
    }
  }
  return v;
}

Vec Linear(const Vec& x, const vllm::GgufTensor& w) {
  const auto m = static_cast<int64_t>(x.size()) / w.k;
  return test::MatmulRef(x, Values(w), m, w.n, w.k);
}

Vec SiluAndMul(const Vec& x, size_t dim) {
  Vec y(x.size() / 2);
  for (size_t i = 0; i < y.size(); ++i) {
    const double g = x[i / dim * 2 * dim + i % dim];
    y[i] = g / (1.0 + std::exp(-g)) * x[i / dim * 2 * dim + dim + i % dim];
  }
  return y;
}

Vec Norm(const Vec& x, const vllm::GgufTensor& w) {
  const size_t dim = static_cast<size_t>(w.k);
  const Vec g = Values(w);
  Vec y(x.size());
  for (size_t r = 0; r < x.size(); r += dim) {
    double sum = 0.0;
    for (size_t i = 0; i < dim; ++i) sum += x[r + i] * x[r + i];
    const double rms = std::sqrt(sum / static_cast<double>(dim) + 1e-6);
    for (size_t i = 0; i < dim; ++i) y[r + i] = x[r + i] / rms * g[i];
  }
  return y;
}

void Add(Vec& a, const Vec& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
}

vllm::dense_attn::Dev Cpu() {
  static vt::Queue q;
  return {vt::GetBackend(vt::DeviceType::kCPU), q};
}

// Each GEMM rounds its activations to 8 bits, the reference does not.
constexpr double kQuantTol = 0.05;

void Harrier(DType weights, double tol) {
  const vllm::HarrierConfig cfg{40, 32, 64, 2};
  vllm::GgufFile f;
  f.Add("token_embd", Random(DType::kBF16, cfg.vocab, cfg.hidden));
  for (int64_t i = 0; i < cfg.layers; ++i) {
    const std::string b = "blk." + std::to_string(i) + ".";
    f.Add(b + "attn_norm", Random(DType::kF32, 1, cfg.hidden));
    f.Add(b + "gate_value", Random(weights, 2 * cfg.hidden, cfg.hidden));
    f.Add(b + "attn_out", Random(weights, cfg.hidden, cfg.hidden));
    f.Add(b + "ffn_norm", Random(DType::kF32, 1, cfg.hidden));
    f.Add(b + "gate_up", Random(weights, 2 * cfg.ffn, cfg.hidden));
    f.Add(b + "down", Random(weights, cfg.hidden, cfg.ffn));
  }
  f.Add("final_norm", Random(DType::kF32, 1, cfg.hidden));
  f.Add("lm_head", Random(weights, cfg.vocab, cfg.hidden));

  const std::vector<int32_t> ids = {3, 39, 0};
  const Vec table = Values(f.Get("token_embd"));
  Vec x;
  for (const int32_t id : ids) {
    const auto row = table.begin() + id * cfg.hidden;
    x.insert(x.end(), row, row + cfg.hidden);
  }
  for (int64_t i = 0; i < cfg.layers; ++i) {
    const std::string b = "blk." + std::to_string(i) + ".";
    const Vec mixed = Linear(Norm(x, f.Get(b + "attn_norm")), f.Get(b + "gate_value"));
    Add(x, Linear(SiluAndMul(mixed, static_cast<size_t>(cfg.hidden)), f.Get(b + "attn_out")));
    const Vec up = Linear(Norm(x, f.Get(b + "ffn_norm")), f.Get(b + "gate_up"));
    Add(x, Linear(SiluAndMul(up, static_cast<size_t>(cfg.ffn)), f.Get(b + "down")));
  }
  const Vec ref = Linear(Norm(x, f.Get("final_norm")), f.Get("lm_head"));
  // The default policy: no weight is rewritten.
  const auto got = vllm::HarrierForward(Cpu(), vllm::LoadHarrier(f, cfg, {}), ids);
  Expect(test::RelError(got, ref) < tol, "harrier");
}

// Marks by hand what the loader marks on an i8mm host only.
void Interleave(vllm::OwnedTensor& w) {
  vt::cpu::QuantRepackWeight(w.dtype, w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
}

void Osprey() {
  vllm::GgufFile f;
  f.Add("gate_up", Random(DType::kQ8_0, 128, 32));
  f.Add("down", Random(DType::kQ8_0, 32, 64));
  const auto x = test::Random(3 * 32, 41);
  const Vec up = Linear(Vec(x.begin(), x.end()), f.Get("gate_up"));
  const Vec ref = Linear(SiluAndMul(up, 64), f.Get("down"));
  vllm::OspreyMlp m = vllm::LoadOsprey(f, 32, 64, {});
  const auto plain = vllm::OspreyForward(Cpu(), m, x, 3);
  Expect(test::RelError(plain, ref) < kQuantTol, "osprey plain");
  Interleave(m.gate_up);
  Interleave(m.down);
  Expect(test::SameBits(vllm::OspreyForward(Cpu(), m, x, 3), plain), "osprey repacked");
  // With the machine's own policy: repacked on an i8mm host, plain elsewhere.
  m = vllm::LoadOsprey(f, 32, 64, vllm::LoadPolicy::FromEnv());
  Expect(m.down.repacked == vt::cpu::QuantRepackActive(), "osprey policy");
  Expect(test::SameBits(vllm::OspreyForward(Cpu(), m, x, 3), plain), "osprey loaded");

  vllm::GgufFile g;
  g.Add("gate_up", Random(DType::kF16, 128, 32));
  g.Add("down", Random(DType::kF16, 32, 64));
  const auto fp = vllm::OspreyForward(Cpu(), vllm::LoadOsprey(g, 32, 64, {}), x, 3);
  vllm::LoadPolicy kn;
  kn.elem_kn_repack = true;
  m = vllm::LoadOsprey(g, 32, 64, kn);
  Expect(m.down.elem_kn_repacked, "osprey transposed");
  Expect(test::SameBits(vllm::OspreyForward(Cpu(), m, x, 3), fp), "osprey elem_kn");
  vt::Queue cuda{{vt::DeviceType::kCUDA, 0}, nullptr};
  ExpectThrow([&] { vllm::OspreyForward({Cpu().b, cuda}, m, x, 3); }, "transposed for the CPU");
}

// Columns [first, first + count) of rows of `n`.
Vec Columns(const Vec& x, size_t n, size_t first, size_t count) {
  Vec y;
  for (size_t r = 0; r < x.size(); r += n) {
    const auto from = x.begin() + static_cast<std::ptrdiff_t>(r + first);
    y.insert(y.end(), from, from + static_cast<std::ptrdiff_t>(count));
  }
  return y;
}

void Basalt() {
  vllm::GgufFile f;
  f.Add("skip", Random(DType::kF32, 64, 64));
  f.Add("q_down", Random(DType::kQ8_0, 32, 64));
  f.Add("q_up", Random(DType::kQ8_0, 96, 32));
  f.Add("out_proj", Random(DType::kQ8_0, 64, 96));
  const auto x = test::Random(2 * 64, 42);
  const Vec xd(x.begin(), x.end());
  Vec ref = Linear(Linear(Linear(xd, f.Get("q_down")), f.Get("q_up")), f.Get("out_proj"));
  Add(ref, Linear(xd, f.Get("skip")));
  vllm::BasaltAttention a = vllm::LoadBasalt(f, 64, 32, 96, {});
  const auto plain = vllm::BasaltForward(Cpu(), a, x, 2);
  Expect(test::RelError(plain, ref) < kQuantTol, "basalt plain");
  const auto query = vllm::BasaltQuery(Cpu(), a, x, 2, 8, 16);
  const Vec queries = Linear(Linear(xd, f.Get("q_down")), f.Get("q_up"));
  Expect(test::RelError(query, Columns(queries, 96, 8, 16)) < kQuantTol, "basalt query");
  Interleave(a.q_up);
  Expect(test::SameBits(vllm::BasaltForward(Cpu(), a, x, 2), plain), "basalt repacked");
  Expect(test::SameBits(vllm::BasaltQuery(Cpu(), a, x, 2, 8, 16), query), "basalt query repacked");

  vllm::LoadPolicy align;
  align.q8_0_align = true;
  a = vllm::LoadBasalt(f, 64, 32, 96, align);
  Expect(a.q_down.q8_0_aligned && a.q_up.q8_0_aligned && !a.out_proj.q8_0_aligned, "basalt marks");
  ExpectThrow([&] { vllm::BasaltForward(Cpu(), a, x, 2); }, "no CPU kernel");
  vt::Queue vulkan{{vt::DeviceType::kVULKAN, 0}, nullptr};
  ExpectThrow([&] { vllm::BasaltForward({Cpu().b, vulkan}, a, x, 2); }, "only the CUDA GEMM");
}

void Tern() {
  constexpr int64_t kExperts = 4, kHidden = 32, kGateRows = 4, kBand = 6;
  vllm::GgufFile f;
  f.Add("gates", Random(DType::kQ8_0, kExperts * kBand, kHidden));
  f.Add("out", Random(DType::kQ8_0, kExperts * kHidden, kHidden));
  f.Add("router", Random(DType::kF32, kExperts, kHidden));
  vllm::GgufTensor packed{DType::kU8, 2, 8, {}};
  for (int i = 0; i < 16; ++i) packed.data.push_back(static_cast<uint8_t>(i * 17));
  f.Add("shared.packed", packed);
  f.Add("shared.scale", Random(DType::kF32, 2, 1));

  vllm::TernMoe m = vllm::LoadTern(f, kExperts, kHidden, kGateRows, {});
  const auto fp4 = vllm::Nvfp4ToFloats(m.shared);
  const Vec scale = Values(f.Get("shared.scale"));
  const double e2m1[16] = {0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6};
  double mean = 0.0;
  for (size_t i = 0; i < 32; ++i) {  // byte i / 2 holds its own index in both nibbles
    Expect(std::fabs(double{fp4[i]} - e2m1[i / 2] * scale[i / 16]) < 1e-6, "fp4");
    mean += e2m1[i / 2] * scale[i / 16] / 32;
  }

  const auto x = test::Random(kHidden, 43);
  const Vec xd(x.begin(), x.end());
  const Vec score = Linear(xd, f.Get("router"));
  const auto best = std::max_element(score.begin(), score.end()) - score.begin();
  const auto expert = [&](const char* name, int64_t band, int64_t rows) {
    const Vec all = Linear(xd, f.Get(name));
    return Vec(all.begin() + best * band, all.begin() + best * band + rows);
  };
  double gate = 0.0;
  for (const double g : expert("gates", kBand, kGateRows)) gate += g / kGateRows;
  Vec ref = expert("out", kHidden, kHidden);
  for (double& v : ref) v = v * gate + mean;
  const auto plain = vllm::TernForward(Cpu(), m, x);
  Expect(test::RelError(plain, ref) < kQuantTol, "tern");
  Interleave(m.out);
  ExpectThrow([&] { vllm::TernForward(Cpu(), m, x); }, "cannot be cut");
}

}  // namespace

int main() {
  Harrier(DType::kQ8_0, kQuantTol);
  Harrier(DType::kBF16, 1e-4);
  Osprey();
  Basalt();
  Tern();
  return test::Result();
}
