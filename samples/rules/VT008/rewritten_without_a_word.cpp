// A rewriter of the whole weight that sets no marker.
#include "prelude.h"

void Interleave(Weight& w) {
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);  // want VT008 repacked
}

void Aligned(Weight& w) {
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
}
