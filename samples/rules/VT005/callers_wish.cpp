// A boolean parameter that nothing ties to these bytes.
#include "prelude.h"

View Wished(const Weight& w, bool interleaved) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // todo-want VT005 repacked
  t.repacked = interleaved;
  return t;
}

View Use(const Weight& w) { return Wished(w, HostHasInt8Mma()); }
