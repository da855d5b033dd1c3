// Constructions in the odd places of statements.
#include "prelude.h"

void IfInit(View& out, const View& x, const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  if (View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)); t.rank == 2) CpuMatmul(out, x, t);
}

void While(View& out, const View& x, const Weight& w, int steps) {
  View t;
  while (steps-- > 0) {
    t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));  // want VT001 elem_kn_repacked
    t.repacked = w.repacked;
    t.q8_0_aligned = false;
    if (w.q8_0_aligned) continue;
    CpuMatmul(out, x, t);
  }
}

void Try(View& out, const View& x, const Weight& w) {
  try {
    // want VT001 repacked q8_0_aligned elem_kn_repacked
    CpuMatmul(out, x, ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)));
  } catch (const std::exception&) {
    Fail("matmul");
  }
}
