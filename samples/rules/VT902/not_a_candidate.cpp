// Text that only looks like a construction: a comment, a string, a branch that is off on purpose.
#include "prelude.h"

// ok: return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w));
const char* Example() { return "t.data = HostBytes(w);"; }

#if 0
View Old(const Weight& w) { return ViewOver(HostBytes(w), w.dtype, Device::kCPU, DimsOf(w)); }
#endif
