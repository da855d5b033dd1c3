// The marker says that something happened which may not have.
#include "prelude.h"

bool TryInterleave(Weight& w, uint8_t* scratch) {
  if (scratch == nullptr) return false;
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  return true;
}

void Optimise(Weight& w, uint8_t* scratch) {
  TryInterleave(w, scratch);
  w.repacked = true;  // want VT005 repacked
}

// ok: the rewrite's own answer
void OptimiseAsked(Weight& w, uint8_t* scratch) { w.repacked = TryInterleave(w, scratch); }

// ok
void OptimiseIf(Weight& w, uint8_t* scratch) {
  if (TryInterleave(w, scratch)) w.repacked = true;
}
