// Copies that agree are not pretty, but right.
#include "prelude.h"

namespace shared {
// ok
inline View Resident(const Weight& w, const Dims& dims) {
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, dims);
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}
}  // namespace shared

namespace {
// ok
View Resident(const Weight& w, const Dims& dims) {
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, dims);
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  return t;
}
}  // namespace

View Private(const Weight& w) { return Resident(w, {4, 32}); }
View Shared(const Weight& w) { return shared::Resident(w, {4, 32}); }
