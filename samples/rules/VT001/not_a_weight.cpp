// Scratch, activations, tables, sizes: nothing here ever had a marker.
#include "prelude.h"

#include <array>

// ok
View Scratch(std::vector<float>& scratch, int64_t m, int64_t n) {
  return ViewOver(scratch.data(), DType::kF32, Device::kCPU, {m, n});
}

// ok
View Staged(size_t size, int64_t m) { return ViewOver(DeviceAlloc(size), DType::kF32, Device::kCUDA, {m}); }

// ok
View Table(std::array<int64_t, 8>& ids) { return ViewOver(ids.data(), DType::kF32, Device::kCPU, {8}); }

// ok
Weight FromFloats(const std::vector<float>& values, int64_t n, int64_t k) {
  Weight w;
  w.dtype = DType::kF32;
  w.rank = 2;
  w.shape[0] = n;
  w.shape[1] = k;
  w.bytes.resize(values.size() * sizeof(float));
  std::memcpy(w.bytes.data(), values.data(), w.bytes.size());
  return w;
}

// ok: sizes are not values
bool Complete(const Weight& w) {
  return !w.bytes.empty() && w.bytes.size() == RowBytes(w.dtype, w.shape[1]) * static_cast<size_t>(w.shape[0]);
}

// ok: a mirror of the flags is not a tensor
struct Flags {
  bool repacked, q8_0_aligned, elem_kn_repacked;
};
Flags FlagsOf(const Weight& w) { return Flags{w.repacked, w.q8_0_aligned, w.elem_kn_repacked}; }

// ok: only the shape of the weight is used
View OutputFor(std::vector<float>& out, const Weight& w, int64_t m) {
  return ViewOver(out.data(), DType::kF32, Device::kCPU, {m, w.shape[0]});
}

// ok: identity, not value
bool SameStorage(const Weight& a, const Weight& b) { return a.bytes.data() == b.bytes.data(); }
