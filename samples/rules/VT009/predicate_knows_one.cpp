// An eligibility test that looks at one layout of two.
#include "prelude.h"

bool FastPath(const View& w) {
  if (w.dtype != DType::kQ8_0) return false;
  return !w.repacked && w.shape[1] % 32 == 0;  // want VT009 q8_0_aligned
}

// ok
bool FastPathOfPlain(const View& w) {
  if (w.dtype != DType::kQ8_0) return false;
  return !w.repacked && !w.q8_0_aligned && w.shape[1] % 32 == 0;
}

// ok: a predicate about one marker
bool IsInterleaved(const View& w) { return w.repacked; }

// ok: it reads no layout, and is asked for the shape alone
bool Divides(const View& w) { return w.shape[1] % 32 == 0; }

bool FastPathOnCpu(const View& w, Device d) {
  if (!IsCpu(d) || w.elem_kn_repacked) return false;
  if (w.repacked) return false;
  return w.rank == 2;  // want VT009 q8_0_aligned
}

// ok: the other layouts are asked for by a helper
bool AnyLayout(const View& w) { return w.repacked || w.q8_0_aligned || w.elem_kn_repacked; }
bool FastPathOfAny(const View& w) { return !AnyLayout(w) && w.rank == 2; }

// ok: it says of an interleaved weight whether it is good
bool Usable(const View& w) { return w.repacked && w.shape[0] % 4 == 0; }
