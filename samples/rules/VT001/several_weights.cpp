// Three views in a row, and the markers of the middle one are missing.
#include "prelude.h"

void Gated(View& out, const Weight& gate, const Weight& up, const Weight& down) {
  Ensure(!gate.q8_0_aligned && !up.q8_0_aligned && !down.q8_0_aligned, "a CUDA layout on the CPU arm");
  Ensure(!gate.elem_kn_repacked && !up.elem_kn_repacked && !down.elem_kn_repacked, "a float layout");
  View g = ViewOver(HostBytes(gate), gate.dtype, Device::kCPU, DimsOf(gate));
  View u = ViewOver(HostBytes(up), up.dtype, Device::kCPU, DimsOf(up));  // want VT001 repacked
  View d = ViewOver(HostBytes(down), down.dtype, Device::kCPU, DimsOf(down));
  g.repacked = gate.repacked;
  d.repacked = down.repacked;
  CpuMatmul(out, g, u);
  CpuMatmul(out, g, d);
}
