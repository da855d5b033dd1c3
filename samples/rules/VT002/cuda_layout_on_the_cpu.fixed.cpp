// Carrying everything everywhere is not the answer either.
#include "prelude.h"

View HostView(const Weight& w) {
  Require(!w.q8_0_aligned, "q8_0_aligned has no reader on this device");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}
