// A weight's device copy of itself keeps its owner's markers; an anonymous buffer has none.
#include "prelude.h"

// ok
void Stage(const Weight& w) {
  void* p = DeviceAlloc(w.bytes.size());
  DeviceUpload(p, w.bytes.data(), w.bytes.size());  // may VT007 repacked q8_0_aligned elem_kn_repacked
  w.d_dev = std::shared_ptr<void>(p, [](void*) {});
}

void* Anonymous(const Weight& w) {
  void* p = DeviceAlloc(w.bytes.size());
  DeviceUpload(p, w.bytes.data(), w.bytes.size());  // want VT007 repacked q8_0_aligned elem_kn_repacked
  return p;  // may VT007 repacked q8_0_aligned elem_kn_repacked
}
