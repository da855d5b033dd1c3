// Each case is one device.
#include "prelude.h"

View Resident(const Weight& w, Device d) {
  Require(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
  View t;
  switch (d) {
    case Device::kCUDA:
      t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
      t.q8_0_aligned = w.q8_0_aligned;
      break;
    case Device::kVulkan:
      t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));  // want VT002 q8_0_aligned
      t.q8_0_aligned = w.q8_0_aligned;
      break;
    default:
      Fail("no such device");
  }
  return t;
}
