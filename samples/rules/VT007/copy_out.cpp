// A read-back gives rewritten bytes to somebody who expects plain ones.
#include <algorithm>
#include <fstream>

#include "prelude.h"

void SetBytes(Weight& w, const uint8_t* src, size_t size) {
  w.bytes.assign(src, src + size);
  InterleaveRows(w.bytes.data(), w.shape[0], w.shape[1]);
  w.repacked = true;
  w.q8_0_aligned = w.elem_kn_repacked = false;
}

void GetBytes(const Weight& w, uint8_t* dst, size_t size) {
  std::memcpy(dst, w.bytes.data(), size);  // want VT007 repacked q8_0_aligned elem_kn_repacked
}

std::vector<uint8_t> Bytes(const Weight& w) {
  // want VT007 repacked q8_0_aligned elem_kn_repacked
  return std::vector<uint8_t>(w.bytes.begin(), w.bytes.end());
}

std::vector<uint8_t> Copied(const Weight& w) {
  std::vector<uint8_t> out(w.bytes.size());
  std::memcpy(out.data(), w.bytes.data(), out.size());
  return out;  // want VT007 repacked q8_0_aligned elem_kn_repacked
}

void Append(const Weight& w, std::vector<uint8_t>& out) {
  out.insert(out.end(), w.bytes.begin(), w.bytes.end());  // want VT007 repacked q8_0_aligned elem_kn_repacked
}

void Replace(const Weight& w, std::vector<uint8_t>& out) {
  out = w.bytes;  // want VT007 repacked q8_0_aligned elem_kn_repacked
}

void Save(const Weight& w, std::ofstream& file) {
  // want VT007 repacked q8_0_aligned elem_kn_repacked
  file.write(reinterpret_cast<const char*>(w.bytes.data()), static_cast<std::streamsize>(w.bytes.size()));
}

uint64_t Digest(const Weight& w) {
  uint64_t digest = 0;
  for (uint8_t byte : w.bytes) digest = digest * 31 + byte;  // want VT007 repacked q8_0_aligned elem_kn_repacked
  return digest;
}

// ok: who gets the copy has the markers too
std::vector<uint8_t> Clone(const Weight& w) { return w.bytes; }

Weight Twice(const Weight& w) {
  Weight t = w;
  t.bytes = Clone(w);
  return t;
}

// ok
void SavePlain(const Weight& w, std::vector<uint8_t>& out) {
  Ensure(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "a rewritten weight is not saved");
  out.assign(w.bytes.begin(), w.bytes.end());
}
