// Carrying everything everywhere is not the answer either.
#include "prelude.h"

View HostView(const Weight& w) {
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT002 q8_0_aligned
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}
