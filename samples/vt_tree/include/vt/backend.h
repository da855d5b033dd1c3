// Memory of one device type.
#pragma once

#include "vt/device.h"

namespace vt {

class Backend {
 public:
  virtual ~Backend() = default;
  virtual void* Alloc(size_t bytes) = 0;  // 16-byte aligned or better; throws when out of memory
  virtual void Free(void* p) = 0;
  // Copies between host and device in either direction; done when it returns.
  virtual void Copy(Queue& q, void* dst, const void* src, size_t bytes) = 0;
};

// Throws when this build has no backend for `type`.
Backend& GetBackend(DeviceType type);
void RegisterBackend(DeviceType type, Backend* backend);

}  // namespace vt
