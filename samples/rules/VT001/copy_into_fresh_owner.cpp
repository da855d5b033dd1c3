// A replace helper copies the bytes and forgets what they are.
#include "prelude.h"

Weight Shuffled(Weight w) {
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
  return w;
}

void Replace(Weight& slot, const Weight& fresh) {
  Weight next;
  next.bytes = fresh.bytes;  // want VT001 repacked q8_0_aligned elem_kn_repacked
  next.dtype = fresh.dtype;
  next.rank = fresh.rank;
  for (int i = 0; i < kMaxRank; ++i) next.shape[i] = fresh.shape[i];
  slot = std::move(next);
}

void Finish(Weight& w) { Replace(w, Shuffled(w)); }
