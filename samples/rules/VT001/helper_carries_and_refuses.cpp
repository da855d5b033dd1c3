// The repaired helper: what the CPU reads travels, what it cannot read is refused, before or after the construction.
#include "prelude.h"

// ok: refused after, but before anything can use the view
View RefusedLast(const Weight& w, const Dims& dims) {
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, dims);
  t.repacked = w.repacked;
  t.elem_kn_repacked = w.elem_kn_repacked;
  Require(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  return t;
}

// ok
View RefusedFirst(const Weight& w, const Dims& dims) {
  SNIPPET_CHECK(!w.q8_0_aligned, "a CUDA layout on the CPU arm");
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, dims);
  t.elem_kn_repacked = w.elem_kn_repacked;
  t.repacked = w.repacked;
  return t;
}
