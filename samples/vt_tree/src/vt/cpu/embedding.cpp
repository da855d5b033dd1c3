// Row gather. It reads the table as plain [V, D] rows whatever its markers say.
#include "cpu_kernels.h"

namespace vt::cpu {

void EmbeddingKernel(Queue&, Tensor& out, const Tensor& table, const Tensor& ids) {
  const int64_t count = ids.shape[0], dim = table.shape[1];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = ids.Ptr<const int32_t>()[i];
    VT_CHECK(row >= 0 && row < table.shape[0], "embedding: id outside the table");
    for (int64_t d = 0; d < dim; ++d) {
      out.Ptr<float>()[i * dim + d] = LoadFloat(table.data, table.dtype, row * dim + d);
    }
  }
}

}  // namespace vt::cpu
