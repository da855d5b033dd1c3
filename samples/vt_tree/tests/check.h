// A few lines of test harness and the float64 reference.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "vt/dtype.h"

namespace test {

inline int failures = 0;

inline void Expect(bool ok, const std::string& what) {
  if (ok) return;
  ++failures;
  std::printf("FAIL %s\n", what.c_str());
}

// The call must throw a message that contains `word`.
inline void ExpectThrow(const std::function<void()>& call, const std::string& word) {
  try {
    call();
  } catch (const std::runtime_error& e) {
    Expect(std::string(e.what()).find(word) != std::string::npos,
           "message with '" + word + "', got: " + e.what());
    return;
  }
  Expect(false, "no throw; expected '" + word + "'");
}

inline int Result() {
  std::printf(failures == 0 ? "ok\n" : "%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}

inline std::vector<float> Random(size_t count, unsigned seed) {
  std::mt19937 gen(seed);
  std::uniform_real_distribution<float> dist(-1.0F, 1.0F);
  std::vector<float> v(count);
  for (float& x : v) x = dist(gen);
  return v;
}

// Row-major floats as bytes of `t`, and the exact values those bytes stand for.
struct Encoded {
  std::vector<uint8_t> bytes;
  std::vector<double> values;
};

inline Encoded Encode(const std::vector<float>& v, vt::DType t) {
  Encoded e;
  e.bytes.resize(vt::RowSizeBytes(t, static_cast<int64_t>(v.size())));
  e.values.resize(v.size());
  if (t == vt::DType::kQ8_0) {
    auto* b = reinterpret_cast<vt::BlockQ8_0*>(e.bytes.data());
    vt::QuantizeRowQ8_0(v.data(), static_cast<int64_t>(v.size()), b);
    for (size_t i = 0; i < v.size(); ++i) {
      e.values[i] = double{vt::F16ToF32(b[i / 32].d)} * b[i / 32].qs[i % 32];
    }
    return e;
  }
  for (size_t i = 0; i < v.size(); ++i) {
    if (t == vt::DType::kF32) {
      std::memcpy(e.bytes.data() + 4 * i, &v[i], 4);
    } else {
      const uint16_t h = t == vt::DType::kF16 ? vt::F32ToF16(v[i]) : vt::F32ToBF16(v[i]);
      std::memcpy(e.bytes.data() + 2 * i, &h, 2);
    }
    e.values[i] = double{vt::LoadFloat(e.bytes.data(), t, static_cast<int64_t>(i))};
  }
  return e;
}

// a[M,K] @ b[N,K]^T
inline std::vector<double> MatmulRef(const std::vector<double>& a, const std::vector<double>& b,
                                     int64_t m, int64_t n, int64_t k) {
  std::vector<double> out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int64_t p = 0; p < k; ++p) {
        sum += a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(j * k + p)];
      }
      out[static_cast<size_t>(i * n + j)] = sum;
    }
  }
  return out;
}

// Largest |got - ref| over the largest |ref|; infinite when a value is not finite.
inline double RelError(const std::vector<float>& got, const std::vector<double>& ref) {
  if (got.size() != ref.size()) return INFINITY;
  double err = 0.0, scale = 1e-30;
  for (size_t i = 0; i < ref.size(); ++i) {
    if (!std::isfinite(got[i])) return INFINITY;
    err = std::fmax(err, std::fabs(double{got[i]} - ref[i]));
    scale = std::fmax(scale, std::fabs(ref[i]));
  }
  return err / scale;
}

inline bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace test
