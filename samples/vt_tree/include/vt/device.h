// Devices and the queue that orders work on one of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vt {

enum class DeviceType : uint8_t { kCPU, kCUDA, kVULKAN };
inline constexpr size_t kNumDeviceTypes = 3;

constexpr const char* DeviceTypeName(DeviceType t) {
  switch (t) {
    case DeviceType::kCPU: return "cpu";
    case DeviceType::kCUDA: return "cuda";
    case DeviceType::kVULKAN: return "vulkan";
  }
  return "unknown";
}

struct Device {
  DeviceType type = DeviceType::kCPU;
  int32_t index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

struct Queue {
  Device device;
  void* handle = nullptr;  // native stream; null is the device's default one
};

}  // namespace vt
