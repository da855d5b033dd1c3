// Aggregate initialisation is a construction; what is not listed is false.
#include "prelude.h"

View Positional(const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return View{HostBytes(w), w.dtype, Device::kCPU, 2, {w.shape[0], w.shape[1]}, {w.shape[1], 1}};
}

View Designated(const Weight& w) {
  // want VT001 repacked q8_0_aligned
  View t{.data = HostBytes(w), .dtype = w.dtype, .rank = 2, .elem_kn_repacked = w.elem_kn_repacked};
  return t;
}

// ok
View DesignatedFaithfully(const Weight& w) {
  Ensure(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  return View{.data = HostBytes(w),
              .dtype = w.dtype,
              .rank = 2,
              .repacked = w.repacked,
              .elem_kn_repacked = w.elem_kn_repacked};
}

// ok
View PositionalFaithfully(const Weight& w, Device d) {
  return {HostBytes(w), w.dtype, d, 2, {w.shape[0], w.shape[1]}, {w.shape[1], 1},
          w.repacked, w.q8_0_aligned, w.elem_kn_repacked};
}
