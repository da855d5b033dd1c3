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

// a view of the view has lost what that one lost
View Shown(const View& v) {
  Ensure(v.rank == 2, "rank");
  View t = v;
  t.stride[0] = v.stride[0];
  return t;
}
// want VT001 q8_0_aligned elem_kn_repacked
void LinearOfShown(View& out, const View& x, const Weight& w) { CpuMatmul(out, x, Shown(w.AsView())); }

// ok: what it lost is put back
View Restored(const View& v, const Weight& w) {
  View t = v;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  return t;
}
void LinearOfRestored(View& out, const View& x, const Weight& w) { CpuMatmul(out, x, Restored(w.AsView(), w)); }
