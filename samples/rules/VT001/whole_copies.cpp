// Whole-object copies carry every field.
#include "prelude.h"

// ok
View Copy(const View& v) {
  View t = v;
  t.rank = 2;
  return t;
}

// ok
Weight CopyOwner(const Weight& w) { return w; }

// ok
void Assign(Weight& slot, const Weight& w) { slot = w; }

// ok
std::shared_ptr<Weight> Shared(const Weight& w) { return std::make_shared<Weight>(w); }

// ok
auto Capture(const View& v) {
  return [v](View& out, const View& x) { CpuMatmul(out, x, v); };
}

// ok
std::pair<View, View> Split(const View& a, const View& b) {
  auto both = std::make_pair(a, b);
  auto& [first, second] = both;
  first.rank = 2;
  return {first, second};
}
