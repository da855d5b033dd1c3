// The undo asks the weight.
#include "prelude.h"

// ok
void Unpack(Weight& w) {
  Ensure(!w.q8_0_aligned && !w.elem_kn_repacked, "no way back");
  if (w.repacked) {
    DeinterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
    w.repacked = false;
  }
}

// ok
void CopyRows(Weight& w, const uint8_t* src, size_t offset, size_t size) {
  Unpack(w);
  std::memcpy(w.bytes.data() + offset, src, size);
}
