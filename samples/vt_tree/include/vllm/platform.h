// What the model code may ask about a device type.
#pragma once

#include "vt/device.h"

namespace vllm {

class Platform {
 public:
  explicit Platform(vt::DeviceType type) : type_(type) {}
  bool is_cpu() const { return type_ == vt::DeviceType::kCPU; }
  bool is_cuda() const { return type_ == vt::DeviceType::kCUDA; }
  bool is_vulkan() const { return type_ == vt::DeviceType::kVULKAN; }

 private:
  vt::DeviceType type_;
};

// Throws on a value that names no device.
const Platform& GetPlatform(vt::DeviceType type);

}  // namespace vllm
