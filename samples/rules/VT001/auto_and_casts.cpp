// The pointer takes a walk before it gets into the view.
#include "prelude.h"

View ThroughLocals(const Weight& w) {
  const auto* bytes = w.bytes.data();
  const void* plain = bytes;
  auto* data = const_cast<void*>(plain);
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  auto t = ViewOver(data, w.dtype, Device::kCPU, DimsOf(w));
  return t;
}

View ThroughElement(const Weight& w) {
  auto* data = const_cast<uint8_t*>(&w.bytes[0]);
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(data, w.dtype, Device::kCPU, DimsOf(w));
}

View ThroughBorrowed(const Weight& w) {
  const uint8_t* p = w.borrowed != nullptr ? w.borrowed : w.bytes.data();
  // want VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p)), w.dtype, Device::kCPU, DimsOf(w));
}

struct Span {
  const uint8_t* first;
  size_t size;
};

View ThroughSpan(const Weight& w) {
  Span s{w.bytes.data(), w.bytes.size()};  // want VT007 repacked q8_0_aligned elem_kn_repacked
  // may VT001 repacked q8_0_aligned elem_kn_repacked
  return ViewOver(const_cast<uint8_t*>(s.first), w.dtype, Device::kCPU, DimsOf(w));
}
