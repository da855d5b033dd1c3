// The retag that settles each marker for the device it moves to.
#include "prelude.h"

View HostView(const Weight& w) { return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)); }

// ok
View OnCuda(const Weight& w) {
  Require(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
  View t = HostView(w);
  t.q8_0_aligned = w.q8_0_aligned;
  t.device = Device::kCUDA;
  if (w.d_dev) t.data = w.d_dev.get();
  return t;
}
