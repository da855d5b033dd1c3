// What each device folder adds to the registry.
#pragma once

namespace vt::cpu {
void RegisterCpu();
}
namespace vt::cuda {
void RegisterCuda();
}
