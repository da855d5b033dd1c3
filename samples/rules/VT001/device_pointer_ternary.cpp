// One construction over two storages of the same weight.
#include "prelude.h"

View Either(const Weight& w, Device d) {
  void* p = d == Device::kCPU ? static_cast<void*>(HostBytes(w)) : w.d_dev.get();
  return ViewOver(p, w.dtype, d, DimsOf(w));  // want VT001 repacked q8_0_aligned elem_kn_repacked
}

View TwoCalls(const Weight& w, bool host) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return host ? ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)) : View{};
}

// ok
View Refused(const Weight& w, Device d) {
  Require(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  void* p = d == Device::kCPU ? static_cast<void*>(HostBytes(w)) : w.d_dev.get();
  return ViewOver(p, w.dtype, d, DimsOf(w));
}
