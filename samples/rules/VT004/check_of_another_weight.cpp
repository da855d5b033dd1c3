// Two weights, two checks, one object.
#include "prelude.h"

void Gated(View& out, const Weight& gate, const Weight& up) {
  Ensure(!gate.repacked && !gate.q8_0_aligned && !gate.elem_kn_repacked, "plain only");
  Ensure(!gate.repacked && !gate.q8_0_aligned && !gate.elem_kn_repacked, "plain only");
  View g = ViewOver(HostBytes(gate), gate.dtype, Device::kCPU, DimsOf(gate));
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  View u = ViewOver(HostBytes(up), up.dtype, Device::kCPU, DimsOf(up));
  CpuMatmul(out, g, u);
}
