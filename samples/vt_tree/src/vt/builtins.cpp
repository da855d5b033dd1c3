#include "builtins.h"

#include "vt/ops.h"

namespace vt {

void RegisterBuiltins() {
  cpu::RegisterCpu();
#ifdef VT_CUDA
  cuda::RegisterCuda();
#endif
}

}  // namespace vt
