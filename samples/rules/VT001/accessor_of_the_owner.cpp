// The owner's own accessor; the source is the implicit object.
#include "prelude.h"

View Weight::AsView() const {
  // want VT001 q8_0_aligned elem_kn_repacked
  View t = ViewOver(const_cast<uint8_t*>(bytes.data()), dtype, Device::kCPU, {shape[0], shape[1]});
  t.repacked = repacked;
  return t;
}

// each user of the accessor is told too
// want VT001 q8_0_aligned elem_kn_repacked
void Linear(View& out, const View& x, const Weight& w) { CpuMatmul(out, x, w.AsView()); }
