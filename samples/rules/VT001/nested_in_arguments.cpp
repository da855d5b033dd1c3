// A temporary view in an argument list, a braced list, a container.
#include "prelude.h"

void Linear(View& out, const View& x, const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  CpuMatmul(out, x, ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)));
}

struct LinearArgs {
  View weight;
  View bias;
};

LinearArgs Args(const Weight& w, const View& bias) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return LinearArgs{ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)), bias};
}

std::pair<View, int> Paired(const Weight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return std::make_pair(ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)), w.rank);
}
