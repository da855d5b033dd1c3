// Every way to put other bytes under an old marker.
#include "prelude.h"

void Assigned(Weight& w, const uint8_t* src, size_t size) {
  w.bytes.assign(src, src + size);  // want VT008 repacked q8_0_aligned elem_kn_repacked
}

void Moved(Weight& w, std::vector<uint8_t> plain) {
  w.bytes = std::move(plain);  // want VT008 repacked q8_0_aligned elem_kn_repacked
}

void ClearedOne(Weight& w, std::vector<uint8_t> plain) {
  w.bytes.swap(plain);  // may VT008 q8_0_aligned elem_kn_repacked
  w.repacked = false;
}

// ok
void ClearedAll(Weight& w, std::vector<uint8_t> plain) {
  w.bytes = std::move(plain);
  w.repacked = w.q8_0_aligned = w.elem_kn_repacked = false;
  w.d_dev.reset();
}

// ok: the whole weight is replaced
void Replaced(Weight& w, std::vector<uint8_t> plain) {
  w = Weight{};
  w.bytes = std::move(plain);
}

// ok: it was plain before
void WasPlain(Weight& w, std::vector<uint8_t> plain) {
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain only");
  w.bytes = std::move(plain);
}
