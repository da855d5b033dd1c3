// A device arm that refuses one transform and forgets its siblings.
#include "prelude.h"

View ToCuda(const Weight& w, const Dims& dims) {
  Require(!w.elem_kn_repacked, "a CPU-only transform");
  Require(!w.repacked, "repacked has no reader on this device");
  if (!w.d_dev) {
    void* p = DeviceAlloc(w.bytes.size());
    DeviceUpload(p, w.bytes.data(), w.bytes.size());
    w.d_dev = std::shared_ptr<void>(p, [](void*) {});
  }
  View t = ViewOver(w.d_dev.get(), w.dtype, Device::kCUDA, dims);
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}
