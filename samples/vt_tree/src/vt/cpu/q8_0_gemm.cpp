// Plain Q8_0 GEMM, and the choice between it and the interleaved one.
#include "cpu_kernels.h"

namespace vt::cpu {

std::vector<BlockQ8_0> QuantizeActivations(const Tensor& a) {
  const int64_t m = a.shape[0], k = a.shape[1], nblk = k / kQ8Block;
  std::vector<BlockQ8_0> rows(static_cast<size_t>(m * nblk));
  for (int64_t i = 0; i < m; ++i) {
    QuantizeRowQ8_0(a.Ptr<const float>() + i * k, k, rows.data() + i * nblk);
  }
  return rows;
}

void MatmulBTQuantKernel(Queue&, Tensor& out, const Tensor& a, const Tensor& b) {
  if (b.repacked) return MatmulQ8x4(out, a, b);
  const int64_t m = a.shape[0], n = b.shape[0], nblk = a.shape[1] / kQ8Block;
  const std::vector<BlockQ8_0> rows = QuantizeActivations(a);
  for (int64_t i = 0; i < m; ++i) {
    const BlockQ8_0* x = rows.data() + i * nblk;
    for (int64_t j = 0; j < n; ++j) {
      const BlockQ8_0* w = b.Ptr<const BlockQ8_0>() + j * nblk;
      float acc = 0.0F;
      for (int64_t p = 0; p < nblk; ++p) {
        int32_t dot = 0;
        for (int64_t e = 0; e < kQ8Block; ++e) dot += int32_t{x[p].qs[e]} * int32_t{w[p].qs[e]};
        acc += static_cast<float>(dot) * (F16ToF32(x[p].d) * F16ToF32(w[p].d));
      }
      out.Ptr<float>()[i * n + j] = acc;
    }
  }
}

}  // namespace vt::cpu
