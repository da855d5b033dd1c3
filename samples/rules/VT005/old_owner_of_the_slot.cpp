// The bytes are the new ones, the markers the old ones.
#include "prelude.h"

void Replace(Weight& slot, const Weight& fresh) {
  Weight next;
  next.bytes = fresh.bytes;  // want VT005 repacked q8_0_aligned elem_kn_repacked
  next.dtype = fresh.dtype;
  next.repacked = slot.repacked;
  next.q8_0_aligned = slot.q8_0_aligned;
  next.elem_kn_repacked = slot.elem_kn_repacked;
  slot = std::move(next);
}
