// A message stops nobody.
#include <iostream>

#include "prelude.h"

void Warn(const char* what);

View Warned(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (w.repacked) Warn("an interleaved weight is read as plain");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT004 repacked
}

View Printed(const Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "plain or interleaved");
  if (w.repacked) {
    std::cerr << "an interleaved weight of rank " << w.rank << " is read as plain\n";
  }
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT004 repacked
}
