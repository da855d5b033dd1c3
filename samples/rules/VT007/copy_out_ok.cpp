// The copy is put back into plain order.
#include "prelude.h"

// ok
void GetBytes(const Weight& w, uint8_t* dst, size_t size) {
  Require(!w.q8_0_aligned && !w.elem_kn_repacked, "no way back");
  std::memcpy(dst, w.bytes.data(), size);
  if (w.repacked) DeinterleaveRows(dst, w.shape[0], w.shape[1]);
}
