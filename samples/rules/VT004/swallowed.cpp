// The refusal is thrown and caught on the spot.
#include "prelude.h"

View Swallowed(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  try {
    Ensure(!w.repacked, "interleaved");
  } catch (const std::exception&) {
  }
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT004 repacked
}
