// The types and helpers that the rule snippets use. Every snippet is a program of its own with this header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

enum class DType : uint8_t { kF32, kF16, kBF16, kQ8_0, kQ4_K };
enum class Device : uint8_t { kCPU, kCUDA, kROCm, kVulkan };

using Dims = std::vector<int64_t>;
inline constexpr int kMaxRank = 4;

// What a kernel gets: a view that owns nothing.
struct View {
  void* data = nullptr;
  DType dtype = DType::kF32;
  Device device = Device::kCPU;
  int rank = 0;
  int64_t shape[kMaxRank] = {0, 0, 0, 0};
  int64_t stride[kMaxRank] = {0, 0, 0, 0};
  bool repacked = false;          // Q8_0 rows interleaved by fours: the CPU quantised GEMM
  bool q8_0_aligned = false;      // all quants, then all scales: the CUDA quantised GEMM
  bool elem_kn_repacked = false;  // the shape says [N, K], the bytes are [K, N]: the CPU float GEMM

  View Rows(int64_t begin, int64_t end) const;
  View Reshaped(const Dims& dims) const;
};

// What a loader fills: a host weight, its own bytes or somebody else's, and a device copy made on demand.
struct Weight {
  std::vector<uint8_t> bytes;
  std::shared_ptr<const void> keep;
  const uint8_t* borrowed = nullptr;
  size_t borrowed_size = 0;
  DType dtype = DType::kF32;
  int rank = 0;
  int64_t shape[kMaxRank] = {0, 0, 0, 0};
  bool repacked = false;
  bool q8_0_aligned = false;
  bool elem_kn_repacked = false;
  mutable std::shared_ptr<void> d_dev;

  View AsView() const;
};

// Three ways to say that something must hold.
[[noreturn]] void Fail(const char* why);
void Require(bool holds, const char* why);
inline void Ensure(bool holds, const char* why) {
  if (!holds) throw std::runtime_error(why);
}
#define SNIPPET_CHECK(cond, why)                 \
  do {                                           \
    if (!(cond)) throw std::runtime_error((why)); \
  } while (0)

// A plain row-major view; the markers stay false.
inline View ViewOver(void* data, DType dtype, Device device, const Dims& dims) {
  Ensure(dims.size() <= static_cast<size_t>(kMaxRank), "rank");
  View v;
  v.data = data;
  v.dtype = dtype;
  v.device = device;
  v.rank = static_cast<int>(dims.size());
  int64_t step = 1;
  for (int i = v.rank - 1; i >= 0; --i) {
    v.shape[i] = dims[static_cast<size_t>(i)];
    v.stride[i] = step;
    step *= v.shape[i];
  }
  return v;
}
// The same, defined in another program: only its declaration is known.
View FarViewOver(void* data, DType dtype, Device device, const Dims& dims);

inline uint8_t* HostBytes(const Weight& w) { return const_cast<uint8_t*>(w.bytes.data()); }
inline Dims DimsOf(const Weight& w) { return {w.shape[0], w.shape[1]}; }
size_t RowBytes(DType dtype, int64_t k);
size_t TotalBytes(const View& v);

inline bool IsCpu(Device d) { return d == Device::kCPU; }
inline bool IsCuda(Device d) { return d == Device::kCUDA; }

void* DeviceAlloc(size_t size);
void DeviceUpload(void* device_dst, const void* host_src, size_t size);

void CpuMatmul(View& out, const View& x, const View& w);   // reads repacked and elem_kn_repacked
void CudaMatmul(View& out, const View& x, const View& w);  // reads q8_0_aligned

// Readers of plain bytes.
void DecodeRows(const void* src, DType dtype, int64_t count, float* out);
void GatherRows(const void* table, const int32_t* ids, int64_t count, size_t row_bytes, void* out);
void RawGemv(const uint8_t* w, int64_t n, int64_t k, const float* x, float* out);

// The rewrites: bytes only, the marker is the caller's business.
bool HostHasInt8Mma();
void InterleaveRows(uint8_t* bytes, int64_t n, int64_t k);
void DeinterleaveRows(uint8_t* bytes, int64_t n, int64_t k);
void SplitScales(uint8_t* bytes, int64_t n, int64_t k);
void TransposeToKN(uint8_t* bytes, int64_t n, int64_t k, size_t element_size);
