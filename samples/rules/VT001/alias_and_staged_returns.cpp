// Two returns of one arm are two constructions.
#include "prelude.h"

View Bad(const Weight& w, const Dims& dims, bool device_reads_host) {
  Require(!w.elem_kn_repacked, "a CPU-only transform");
  if (device_reads_host)
    return ViewOver(HostBytes(w), w.dtype, Device::kCUDA, dims);  // want VT001 repacked q8_0_aligned
  void* p = DeviceAlloc(w.bytes.size());
  DeviceUpload(p, w.bytes.data(), w.bytes.size());  // may VT007 repacked q8_0_aligned
  w.d_dev = std::shared_ptr<void>(p, [](void*) {});
  return ViewOver(p, w.dtype, Device::kCUDA, dims);  // want VT001 repacked q8_0_aligned
}

// ok
View Good(const Weight& w, const Dims& dims, bool device_reads_host) {
  Require(!w.elem_kn_repacked && !w.repacked, "a CPU-only transform");
  if (device_reads_host) {
    View alias = ViewOver(HostBytes(w), w.dtype, Device::kCUDA, dims);
    alias.q8_0_aligned = w.q8_0_aligned;
    return alias;
  }
  void* p = DeviceAlloc(w.bytes.size());
  DeviceUpload(p, w.bytes.data(), w.bytes.size());
  w.d_dev = std::shared_ptr<void>(p, [](void*) {});
  View staged = ViewOver(p, w.dtype, Device::kCUDA, dims);
  staged.q8_0_aligned = w.q8_0_aligned;
  return staged;
}
