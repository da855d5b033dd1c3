// Every CPU kernel against a float64 reference, and every layout against the plain one.
#include "check.h"
#include "vt/ops.h"
#include "vt/weight_layout.h"

using test::Encode;
using test::Encoded;
using test::Expect;
using test::ExpectThrow;
using vt::DType;
using vt::Tensor;

namespace {

Tensor On(void* p, DType t, const std::vector<int64_t>& shape) {
  return Tensor::Contiguous(p, t, vt::Device{}, shape);
}

std::vector<float> Run(decltype(&vt::MatmulBT) op, std::vector<float> x, int64_t m, Tensor w) {
  vt::Queue q;
  std::vector<float> y(static_cast<size_t>(m * w.shape[0]), NAN);
  Tensor out = On(y.data(), DType::kF32, {m, w.shape[0]});
  op(q, out, On(x.data(), DType::kF32, {m, w.shape[1]}), w);
  return y;
}

void QuantGemm(int64_t m, int64_t n, int64_t k) {
  const std::string name =
      "q8_0 " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  const std::vector<float> x = test::Random(static_cast<size_t>(m * k), 7);
  Encoded w = Encode(test::Random(static_cast<size_t>(n * k), 8), DType::kQ8_0);
  // The kernel quantises its activations, so the reference starts from the quantised values.
  const auto ref = test::MatmulRef(Encode(x, DType::kQ8_0).values, w.values, m, n, k);
  Tensor wt = On(w.bytes.data(), DType::kQ8_0, {n, k});
  const auto plain = Run(vt::MatmulBTQuant, x, m, wt);
  Expect(test::RelError(plain, ref) < 2e-6, name + " plain");

  if (!vt::cpu::QuantRepackShapeOk(DType::kQ8_0, n, k)) {
    Expect(n % 4 != 0, name + " declined");
    ExpectThrow([&] { vt::cpu::QuantRepackWeight(DType::kQ8_0, w.bytes.data(), n, k); }, "N % 4");
    wt.repacked = true;
    ExpectThrow([&] { Run(vt::MatmulBTQuant, x, m, wt); }, "interleave");
    return;
  }
  vt::cpu::QuantRepackWeight(DType::kQ8_0, w.bytes.data(), n, k);
  wt.repacked = true;
  const auto packed = Run(vt::MatmulBTQuant, x, m, wt);
  Expect(test::SameBits(packed, plain), name + " repacked");
  wt.repacked = false;
  Expect(!(test::RelError(Run(vt::MatmulBTQuant, x, m, wt), ref) < 1e-2), name + " marker lost");
}

void FloatGemm(DType t, int64_t m, int64_t n, int64_t k) {
  const std::string name = "float " + std::to_string(static_cast<int>(t)) + " " + std::to_string(n);
  const std::vector<float> x = test::Random(static_cast<size_t>(m * k), 9);
  Encoded w = Encode(test::Random(static_cast<size_t>(n * k), 10), t);
  const auto ref = test::MatmulRef(Encode(x, DType::kF32).values, w.values, m, n, k);
  Tensor wt = On(w.bytes.data(), t, {n, k});
  const auto plain = Run(vt::MatmulBT, x, m, wt);
  Expect(test::RelError(plain, ref) < 2e-6, name + " plain");
  vt::cpu::ElemRepackWeight(t, w.bytes.data(), n, k);
  wt.elem_kn_repacked = true;
  Expect(test::SameBits(Run(vt::MatmulBT, x, m, wt), plain), name + " elem_kn");
}

void Gather(DType t) {
  vt::Queue q;
  Encoded table = Encode(test::Random(5 * 7, 11), t);
  std::vector<int32_t> ids = {4, 0, 2, 4};
  std::vector<float> y(4 * 7, NAN);
  Tensor out = On(y.data(), DType::kF32, {4, 7});
  Tensor id_t = On(ids.data(), DType::kI32, {4});
  const Tensor table_t = On(table.bytes.data(), t, {5, 7});
  vt::Embedding(q, out, table_t, id_t);
  for (size_t i = 0; i < y.size(); ++i) {
    Expect(double{y[i]} == table.values[static_cast<size_t>(ids[i / 7]) * 7 + i % 7], "embedding");
  }
  ids[1] = 5;
  ExpectThrow([&] { vt::Embedding(q, out, table_t, id_t); }, "outside the table");
}

// The sections of the CUDA layout, read back by their definition.
void AlignedBytes(int64_t n, int64_t k) {
  Encoded w = Encode(test::Random(static_cast<size_t>(n * k), 12), DType::kQ8_0);
  vt::cpu::RepackQ8_0Cuda(w.bytes.data(), n, k);
  const auto* quants = reinterpret_cast<const int8_t*>(w.bytes.data());
  for (int64_t i = 0; i < n * k; ++i) {
    uint16_t d;
    std::memcpy(&d, w.bytes.data() + n * k + i / 32 * 2, 2);
    Expect(double{vt::F16ToF32(d)} * quants[i] == w.values[static_cast<size_t>(i)], "aligned");
  }
}

}  // namespace

int main() {
  for (const int64_t m : {1, 2, 3, 5}) {
    for (const int64_t n : {1, 4, 6, 8, 36}) {
      for (const int64_t k : {32, 96, 256}) QuantGemm(m, n, k);
    }
  }
  for (const DType t : {DType::kF32, DType::kF16, DType::kBF16}) {
    FloatGemm(t, 3, 5, 7);
    FloatGemm(t, 1, 33, 65);
    Gather(t);
  }
  AlignedBytes(3, 64);
  AlignedBytes(8, 32);

  float x[32] = {}, y[4] = {};
  vt::BlockQ8_0 w[4] = {};
  vt::Queue q, vulkan{{vt::DeviceType::kVULKAN, 0}, nullptr};
  Tensor out = On(y, DType::kF32, {1, 4});
  const Tensor a = On(x, DType::kF32, {1, 32}), b = On(w, DType::kQ8_0, {4, 32});
  ExpectThrow([&] { vt::MatmulBT(q, out, a, b); }, "float weight");
  ExpectThrow([&] { vt::MatmulBTQuant(vulkan, out, a, b); }, "vulkan");
  return test::Result();
}
