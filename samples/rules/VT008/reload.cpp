// Plain bytes come back and the marker stays.
#include "prelude.h"

void AfterLoad(Weight& w) {
  if (w.repacked) return;
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
}

void Reload(Weight& w, const std::vector<uint8_t>& plain) {
  w.bytes = plain;  // want VT008 repacked may VT008 q8_0_aligned elem_kn_repacked
  if (!w.repacked) AfterLoad(w);
}

// ok
void ReloadCleared(Weight& w, const std::vector<uint8_t>& plain) {
  w.bytes = plain;
  w.repacked = w.q8_0_aligned = w.elem_kn_repacked = false;
  w.d_dev.reset();
  AfterLoad(w);
}
