// A float weight has no quantised layout, a quantised one no float layout.
#include "prelude.h"

// ok
View Floats(const Weight& w) {
  Ensure(w.dtype == DType::kF32, "floats");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}

View FloatsBare(const Weight& w) {
  if (w.dtype != DType::kBF16) return {};
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 elem_kn_repacked
}

// ok
View Quantised(const Weight& w) {
  SNIPPET_CHECK(w.dtype == DType::kQ8_0 && !w.q8_0_aligned, "Q8_0 on the CPU");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
  t.repacked = w.repacked;
  return t;
}

View QuantisedBare(const Weight& w) {
  SNIPPET_CHECK(w.dtype == DType::kQ8_0, "Q8_0");
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 repacked q8_0_aligned
}
