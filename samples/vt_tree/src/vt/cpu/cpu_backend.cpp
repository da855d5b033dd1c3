#include <cstring>
#include <new>

#include "../builtins.h"
#include "cpu_kernels.h"

namespace vt::cpu {
namespace {

constexpr std::align_val_t kAlign{64};

class CpuBackend final : public Backend {
 public:
  void* Alloc(size_t bytes) override { return ::operator new(bytes, kAlign); }
  void Free(void* p) override { ::operator delete(p, kAlign); }
  void Copy(Queue&, void* dst, const void* src, size_t bytes) override {
    std::memcpy(dst, src, bytes);
  }
};

}  // namespace

void RegisterCpu() {
  static CpuBackend backend;
  RegisterBackend(DeviceType::kCPU, &backend);
  RegisterOp(OpId::kMatmulBT, DeviceType::kCPU, reinterpret_cast<void*>(&MatmulBTKernel));
  RegisterOp(OpId::kMatmulBTQuant, DeviceType::kCPU, reinterpret_cast<void*>(&MatmulBTQuantKernel));
  RegisterOp(OpId::kEmbedding, DeviceType::kCPU, reinterpret_cast<void*>(&EmbeddingKernel));
}

}  // namespace vt::cpu
