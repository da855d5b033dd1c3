// One plain marker of three is enough for this check.
#include "prelude.h"

View AnyPlain(const Weight& w) {
  Ensure(!w.repacked || !w.q8_0_aligned || !w.elem_kn_repacked, "plain only");
  // want VT004 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

View AllMarked(const Weight& w) {
  if (w.repacked && w.q8_0_aligned && w.elem_kn_repacked) throw std::runtime_error("plain only");
  // want VT004 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

View OrElse(const Weight& w, bool trusted) {
  Ensure(trusted || (!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked), "plain only");
  // want VT004 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}
