// Bytes that leave the process.
#include "prelude.h"

#include <cstdio>

void Write(std::FILE* file, const Weight& w) {
  std::fwrite(w.bytes.data(), 1, w.bytes.size(), file);  // want VT007 repacked q8_0_aligned elem_kn_repacked
}

// ok
void WritePlain(std::FILE* file, const Weight& w) {
  if (w.repacked || w.q8_0_aligned || w.elem_kn_repacked) Fail("plain only");
  std::fwrite(w.bytes.data(), 1, w.bytes.size(), file);
}
