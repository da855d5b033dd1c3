// "Not CUDA" is not "CPU": the layout travels to devices that have no reader for it.
#include "prelude.h"

View Resident(const Weight& w, Device d) {
  Require(!w.q8_0_aligned || IsCuda(d), "no reader on this device");
  if (!IsCuda(d)) {
    View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));  // want VT002 repacked elem_kn_repacked
    t.repacked = w.repacked;
    t.elem_kn_repacked = w.elem_kn_repacked;
    return t;
  }
  Require(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
  View t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}

// ok: the arm asks for the CPU itself
View ResidentAsked(const Weight& w, Device d) {
  Require(!w.q8_0_aligned || d == Device::kCUDA, "no reader on this device");
  if (d == Device::kCPU) {
    View t = ViewOver(HostBytes(w), w.dtype, d, DimsOf(w));
    t.repacked = w.repacked;
    t.elem_kn_repacked = w.elem_kn_repacked;
    return t;
  }
  Require(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
  View t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}
