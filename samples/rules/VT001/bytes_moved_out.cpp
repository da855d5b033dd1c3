// Moving the whole owner moves its markers; moving its bytes alone does not.
#include "prelude.h"

// ok
Weight Whole(Weight&& w) {
  Weight out = std::move(w);
  return out;
}

Weight BytesAlone(Weight&& w) {
  Weight out;
  out.dtype = w.dtype;
  out.bytes = std::move(w.bytes);  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return out;
}

Weight Swapped(Weight& w) {
  Weight out;
  // may VT008 repacked q8_0_aligned elem_kn_repacked want VT001 repacked q8_0_aligned elem_kn_repacked
  out.bytes.swap(w.bytes);
  return out;
}

// ok: the markers are read after the move of the bytes, which does not touch them
Weight BytesThenMarkers(Weight&& w) {
  Weight out;
  out.bytes = std::move(w.bytes);
  out.repacked = w.repacked;
  out.q8_0_aligned = w.q8_0_aligned;
  out.elem_kn_repacked = w.elem_kn_repacked;
  return out;
}
