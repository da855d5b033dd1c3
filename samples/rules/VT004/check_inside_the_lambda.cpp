// The lambda that checks is never called before the view is made.
#include "prelude.h"

View Uncalled(const Weight& w) {
  auto check = [&] { Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only"); };
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  (void)check;
  return t;
}

// ok
View Called(const Weight& w) {
  auto check = [&] { Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only"); };
  check();
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
