// Conversions, block quantisation and the view operations.
#include "check.h"
#include "vt/tensor.h"

using test::Expect;
using test::ExpectThrow;

int main() {
  // Every finite half survives a round trip, and so do the infinities.
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const auto bits = static_cast<uint16_t>(h);
    if ((bits & 0x7fffU) > 0x7c00U) continue;  // NaN
    Expect(vt::F32ToF16(vt::F16ToF32(bits)) == bits, "half " + std::to_string(h));
  }
  Expect(vt::F16ToF32(0x3c00) == 1.0F && vt::F16ToF32(0xc000) == -2.0F, "half values");
  Expect(vt::F16ToF32(0x0001) == 0x1p-24F && vt::F16ToF32(0x7bff) == 65504.0F, "half extremes");
  Expect(vt::F32ToF16(1.0F + 0x1p-11F) == 0x3c00 && vt::F32ToF16(1.0F + 0x3p-11F) == 0x3c02,
         "half ties to even");
  Expect(vt::F32ToF16(65519.0F) == 0x7bff && vt::F32ToF16(65520.0F) == 0x7c00, "half overflow");
  Expect(vt::BF16ToF32(vt::F32ToBF16(-1.5F)) == -1.5F, "bf16");

  const std::vector<float> v = test::Random(96, 1);
  const test::Encoded q = test::Encode(v, vt::DType::kQ8_0);
  for (size_t i = 0; i < v.size(); ++i) {
    Expect(std::fabs(q.values[i] - double{v[i]}) < 0.6 / 127, "quantisation step");
  }
  ExpectThrow([] { vt::RowSizeBytes(vt::DType::kQ8_0, 33); }, "whole blocks");

  float data[12] = {};
  const vt::Tensor t = vt::Tensor::Contiguous(data, vt::DType::kF32, vt::Device{}, {3, 4});
  Expect(t.Slice(1, 3).data == data + 4 && t.Slice(1, 3).shape[0] == 2, "slice");
  Expect(t.View({4, 3}).stride[0] == 3 && t.View({12}).rank == 1, "view");
  ExpectThrow([&] { t.View({5}); }, "element count");
  ExpectThrow([&] { t.Slice(2, 4); }, "row range");
  ExpectThrow([&] { vt::Tensor::Contiguous(data, vt::DType::kF32, {}, {1, 1, 1, 1, 1}); }, "rank");
  for (bool vt::Tensor::*marker :
       {&vt::Tensor::repacked, &vt::Tensor::q8_0_aligned, &vt::Tensor::elem_kn_repacked}) {
    vt::Tensor marked = t;
    marked.*marker = true;
    ExpectThrow([&] { marked.View({12}); }, "keeps its shape");
    ExpectThrow([&] { marked.Slice(0, 3); }, "cut by rows");
  }
  return test::Result();
}
