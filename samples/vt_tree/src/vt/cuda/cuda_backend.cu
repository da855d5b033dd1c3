#include "../builtins.h"
#include "cuda_check.h"
#include "cuda_kernels.h"

namespace vt::cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  void* Alloc(size_t bytes) override {
    void* p = nullptr;
    VT_CUDA_CHECK(cudaMalloc(&p, bytes));
    return p;
  }
  void Free(void* p) override { VT_CUDA_WARN(cudaFree(p)); }
  void Copy(Queue& q, void* dst, const void* src, size_t bytes) override {
    const cudaStream_t stream = static_cast<cudaStream_t>(q.handle);
    VT_CUDA_CHECK(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, stream));
    VT_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
};

}  // namespace

void RegisterCuda() {
  static CudaBackend backend;
  RegisterBackend(DeviceType::kCUDA, &backend);
  RegisterOp(OpId::kMatmulBT, DeviceType::kCUDA, reinterpret_cast<void*>(&MatmulBTKernel));
  RegisterOp(OpId::kMatmulBTQuant, DeviceType::kCUDA,
             reinterpret_cast<void*>(&MatmulBTQuantKernel));
}

}  // namespace vt::cuda
