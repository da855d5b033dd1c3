// The markers are inherited, and lost all the same.
#include "prelude.h"

struct ScaledWeight : Weight {
  std::vector<float> scales;
};

View Bare(const ScaledWeight& w) {
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
}

struct Linear {
  Weight weight;
  View Make() const {
    // want VT001 repacked q8_0_aligned elem_kn_repacked
    return ViewOver(HostBytes(weight), weight.dtype, Device::kCPU, DimsOf(weight));
  }
  // ok
  View MakeFaithfully(Device d) const {
    View t = ViewOver(HostBytes(weight), weight.dtype, d, DimsOf(weight));
    t.repacked = weight.repacked;
    t.q8_0_aligned = weight.q8_0_aligned;
    t.elem_kn_repacked = weight.elem_kn_repacked;
    return t;
  }
};
