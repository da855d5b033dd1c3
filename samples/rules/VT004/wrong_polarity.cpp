// The check lets in what it should keep out.
#include "prelude.h"

View Admits(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  Ensure(w.repacked, "plain only");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT004 repacked
}

View ThrowsOnPlain(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (!w.repacked) throw std::runtime_error("interleaved weight");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT004 repacked
}

View BareOnlyWhenMarked(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (w.repacked) {
    return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // todo-want VT004 repacked
  }
  return {};
}
