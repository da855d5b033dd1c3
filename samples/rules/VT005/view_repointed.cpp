// A copy of one view is pointed at another weight's bytes.
#include "prelude.h"

View Repointed(const View& like, const Weight& w) {
  View t = like;
  t.data = HostBytes(w);  // want VT005 repacked q8_0_aligned elem_kn_repacked
  return t;
}
