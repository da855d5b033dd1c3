// Who rewrites sets the marker.
#include "prelude.h"

// ok
bool TryInterleave(Weight& w, uint8_t* scratch) {
  if (scratch == nullptr) return false;
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
  return true;
}

// ok
void Optimise(Weight& w, uint8_t* scratch) { (void)TryInterleave(w, scratch); }

// ok
Weight Shuffled(Weight w) {
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
  return w;
}
