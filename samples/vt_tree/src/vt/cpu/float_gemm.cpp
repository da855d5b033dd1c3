// Float GEMM over a weight stored [N, K], or [K, N] when elem_kn_repacked. Both orders add the
// products of one output in increasing K, so they agree bit for bit.
#include <algorithm>

#include "cpu_kernels.h"

namespace vt::cpu {

void MatmulBTKernel(Queue&, Tensor& out, const Tensor& a, const Tensor& b) {
  const int64_t m = a.shape[0], n = b.shape[0], k = a.shape[1];
  for (int64_t i = 0; i < m; ++i) {
    const float* x = a.Ptr<const float>() + i * k;
    float* y = out.Ptr<float>() + i * n;
    std::fill_n(y, n, 0.0F);
    if (b.elem_kn_repacked) {
      for (int64_t p = 0; p < k; ++p) {  // unit stride over N
        for (int64_t j = 0; j < n; ++j) y[j] += x[p] * LoadFloat(b.data, b.dtype, p * n + j);
      }
    } else {
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t p = 0; p < k; ++p) y[j] += x[p] * LoadFloat(b.data, b.dtype, j * k + p);
      }
    }
  }
}

}  // namespace vt::cpu
