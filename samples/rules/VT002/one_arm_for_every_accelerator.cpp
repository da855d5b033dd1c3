// One arm serves CUDA and its siblings; only CUDA has the aligned reader.
#include "prelude.h"

View Resident(const Weight& w, Device d) {
  Require(d != Device::kCPU, "staged weights only");
  Require(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
  View t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));  // want VT002 q8_0_aligned
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}

// ok: carried, and refused where no kernel reads it
View ResidentAsked(const Weight& w, Device d) {
  Require(d != Device::kCPU, "staged weights only");
  Require(!w.repacked && !w.elem_kn_repacked, "a CPU-only transform");
  Require(!w.q8_0_aligned || d == Device::kCUDA, "a CUDA-only layout");
  View t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}

// ok: the same refusal as an if
View ResidentAskedByIf(const Weight& w, Device d) {
  if (d == Device::kCPU) return {};
  if (w.repacked || w.elem_kn_repacked) throw std::runtime_error("a CPU-only transform");
  if (w.q8_0_aligned && d != Device::kCUDA) throw std::runtime_error("a CUDA-only layout");
  View t = ViewOver(w.d_dev.get(), w.dtype, d, DimsOf(w));
  t.q8_0_aligned = w.q8_0_aligned;
  return t;
}
