// Field order does not matter.
#include "prelude.h"

// ok
View MarkersFirst(const Weight& w) {
  View t;
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  t.data = HostBytes(w);
  t.dtype = w.dtype;
  return t;
}

// ok: through booleans
View ThroughLocals(const Weight& w) {
  const bool interleaved = w.repacked, aligned = w.q8_0_aligned, transposed = w.elem_kn_repacked;
  View t;
  t.data = HostBytes(w);
  t.repacked = interleaved;
  t.q8_0_aligned = aligned;
  t.elem_kn_repacked = transposed;
  return t;
}

// ok: one template for all
View ThroughPrototype(const Weight& w, const View& like_w) {
  View t = like_w;
  t.repacked = w.repacked;
  t.q8_0_aligned = w.q8_0_aligned;
  t.elem_kn_repacked = w.elem_kn_repacked;
  t.data = HostBytes(w);
  return t;
}
