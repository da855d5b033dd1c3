// Sizes, addresses, null checks and the rewriters' own work.
#include "prelude.h"

// ok
size_t Size(const Weight& w) { return w.bytes.size(); }

// ok
bool Staged(const Weight& w) { return w.d_dev != nullptr || w.borrowed != nullptr; }

// ok
uintptr_t Key(const Weight& w) { return reinterpret_cast<uintptr_t>(w.bytes.data()); }

// ok
void Release(Weight& w) {
  w.bytes.clear();
  w.bytes.shrink_to_fit();
  w.d_dev.reset();
}

// ok: rewrites plain bytes, says so
void Interleave(Weight& w) {
  if (w.repacked || w.q8_0_aligned || w.elem_kn_repacked) return;
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
}
