// A device arm that refuses one transform and forgets its siblings.
#include "prelude.h"

View ToCuda(const Weight& w, const Dims& dims) {
  Require(!w.elem_kn_repacked, "a CPU-only transform");
  if (!w.d_dev) {
    void* p = DeviceAlloc(w.bytes.size());
    DeviceUpload(p, w.bytes.data(), w.bytes.size());  // may VT007 repacked q8_0_aligned
    w.d_dev = std::shared_ptr<void>(p, [](void*) {});
  }
  return ViewOver(w.d_dev.get(), w.dtype, Device::kCUDA, dims);  // want VT001 repacked q8_0_aligned
}
