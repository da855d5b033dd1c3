// Two rewrites that give different bytes set the same boolean.
#include "prelude.h"

void RewriteByFour(uint8_t* bytes, int64_t n, int64_t k);
void RewriteByEight(uint8_t* bytes, int64_t n, int64_t k);

void Load(Weight& w, bool wide) {
  if (wide) {
    RewriteByEight(w.bytes.data(), w.shape[0], w.shape[1]);
  } else {
    RewriteByFour(w.bytes.data(), w.shape[0], w.shape[1]);  // want VT008 repacked
  }
  w.repacked = true;
}
