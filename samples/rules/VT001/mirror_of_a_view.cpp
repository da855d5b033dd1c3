// A struct that holds a view and declares a marker again has to fill it.
#include "prelude.h"

struct Probe {
  View inner;
  bool repacked = false;
};

Probe WrapBare(const View& v) {
  Probe p;
  p.inner = v;  // want VT001 repacked
  return p;
}

// ok
Probe Wrap(const View& v) { return Probe{v, v.repacked}; }

bool TakesTheFastPath(const Probe& p) { return p.repacked; }
