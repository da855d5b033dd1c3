// A switch over the device: each case is an arm.
#include "prelude.h"

View Resident(const Weight& w, Device d) {
  switch (d) {
    case Device::kCPU: {
      View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));  // want VT001 q8_0_aligned
      t.repacked = w.repacked;
      t.elem_kn_repacked = w.elem_kn_repacked;
      return t;
    }
    case Device::kCUDA: {
      Ensure(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
      View t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
      t.q8_0_aligned = w.q8_0_aligned;
      return t;
    }
    default:
      // want VT001 q8_0_aligned, VT004 repacked elem_kn_repacked
      return ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
  }
}
