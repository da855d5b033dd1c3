#include <array>
#include <atomic>
#include <mutex>

#include "vt/backend.h"
#include "vt/ops.h"

namespace vt {
namespace {

struct Registry {
  std::array<std::array<void*, kNumDeviceTypes>, kNumOps> ops{};
  std::array<Backend*, kNumDeviceTypes> backends{};
};

Registry& Table() {
  static Registry r;
  return r;
}

// The lookup functions alone trigger registration, so RegisterOp may be called from inside it.
void EnsureBuiltins() {
  static std::once_flag once;
  std::call_once(once, RegisterBuiltins);
}

size_t Index(DeviceType d) {
  const size_t i = static_cast<size_t>(d);
  VT_CHECK(i < kNumDeviceTypes, "invalid device type");
  return i;
}

}  // namespace

void RegisterOp(OpId op, DeviceType device, void* fn) {
  Table().ops[static_cast<size_t>(op)][Index(device)] = fn;
}

void* GetOp(OpId op, DeviceType device) {
  EnsureBuiltins();
  void* fn = Table().ops[static_cast<size_t>(op)][Index(device)];
  VT_CHECK(fn != nullptr, std::string("no kernel of this operation for ") + DeviceTypeName(device));
  return fn;
}

void RegisterBackend(DeviceType type, Backend* backend) {
  Table().backends[Index(type)] = backend;
}

Backend& GetBackend(DeviceType type) {
  EnsureBuiltins();
  Backend* b = Table().backends[Index(type)];
  VT_CHECK(b != nullptr, std::string("no backend for ") + DeviceTypeName(type));
  return *b;
}

}  // namespace vt
