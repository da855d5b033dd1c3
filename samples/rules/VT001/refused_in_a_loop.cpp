// One check for several weights: a loop over their addresses.
#include "prelude.h"

// ok
void Both(View& out, const Weight& up, const Weight& down) {
  for (const Weight* w : {&up, &down}) {
    Ensure(!w->repacked && !w->q8_0_aligned && !w->elem_kn_repacked, "plain only");
  }
  View a = ViewOver(HostBytes(up), up.dtype, Device::kCPU, DimsOf(up));
  View b = ViewOver(HostBytes(down), down.dtype, Device::kCPU, DimsOf(down));
  CpuMatmul(out, a, b);
}

// the gate is not in the list
void NotTheThird(View& out, const Weight& up, const Weight& down, const Weight& gate) {
  for (const Weight* w : {&up, &down}) {
    if (w->repacked || w->q8_0_aligned || w->elem_kn_repacked) throw std::runtime_error("plain only");
  }
  View a = ViewOver(HostBytes(up), up.dtype, Device::kCPU, DimsOf(up));
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  View b = ViewOver(HostBytes(gate), gate.dtype, Device::kCPU, DimsOf(gate));
  CpuMatmul(out, a, b);
}

// ok: the construction itself is in the loop
void Inside(View& out, const View& x, const Weight& up, const Weight& down) {
  for (const auto* w : {&up, &down}) {
    Ensure(!w->q8_0_aligned, "a CUDA layout on the CPU arm");
    View t = ViewOver(HostBytes(*w), w->dtype, Device::kCPU, DimsOf(*w));
    t.repacked = w->repacked;
    t.elem_kn_repacked = w->elem_kn_repacked;
    CpuMatmul(out, x, t);
  }
}
