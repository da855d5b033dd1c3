// One check of several the wrong way round: its weight gets through only with the layout that the others refuse.
#include "prelude.h"

struct Experts {
  Weight gate, up, down;
};

void OneOfTwo(const View& a, const View& b) {
  if (a.repacked || !b.repacked) throw std::runtime_error("interleaved weight");  // want VT004 repacked
}

void OneOfThree(const Experts& e) {
  SNIPPET_CHECK(!e.gate.q8_0_aligned, "plain only");
  SNIPPET_CHECK(e.up.q8_0_aligned, "plain only");  // want VT004 q8_0_aligned
  SNIPPET_CHECK(!e.down.q8_0_aligned, "plain only");
}

// ok: a weight and what it is multiplied with
void Interleaved(const View& x, const View& w) {
  SNIPPET_CHECK(!x.repacked, "activations");
  SNIPPET_CHECK(w.repacked, "an interleaved weight");
}

// ok: either of two
void Either(const View& a, const View& b) {
  SNIPPET_CHECK(!a.repacked || !b.repacked, "not both");
}
