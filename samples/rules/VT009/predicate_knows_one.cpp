// An eligibility test that looks at one layout of two.
#include "prelude.h"

bool FastPath(const View& w) {
  if (w.dtype != DType::kQ8_0) return false;
  return !w.repacked && w.shape[1] % 32 == 0;  // todo-want VT009 q8_0_aligned
}

// ok
bool FastPathOfPlain(const View& w) {
  if (w.dtype != DType::kQ8_0) return false;
  return !w.repacked && !w.q8_0_aligned && w.shape[1] % 32 == 0;
}

// ok: a predicate about one marker
bool IsInterleaved(const View& w) { return w.repacked; }
