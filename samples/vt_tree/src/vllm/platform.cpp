#include "vllm/platform.h"

#include <array>

#include "vt/dtype.h"

namespace vllm {

const Platform& GetPlatform(vt::DeviceType type) {
  static const std::array<Platform, vt::kNumDeviceTypes> all = {
      Platform(vt::DeviceType::kCPU), Platform(vt::DeviceType::kCUDA),
      Platform(vt::DeviceType::kVULKAN)};
  const size_t i = static_cast<size_t>(type);
  VT_CHECK(i < all.size(), "invalid device type");
  return all[i];
}

}  // namespace vllm
