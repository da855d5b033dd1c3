// The author takes a host view, changes device and pointer, and believes that the layout came along.
#include "prelude.h"

View HostView(const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

View OnCuda(const Weight& w) {
  View t = HostView(w);
  t.device = Device::kCUDA;
  if (w.d_dev) t.data = w.d_dev.get();  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return t;
}

void Step(View& out, const View& x, const Weight& w) { CudaMatmul(out, x, OnCuda(w)); }
