// A view type of one's own whose constructor carries.
#include "prelude.h"

struct WeightView : View {
  explicit WeightView(const Weight& w) {
    data = HostBytes(w);
    dtype = w.dtype;
    repacked = w.repacked;
    q8_0_aligned = w.q8_0_aligned;
    elem_kn_repacked = w.elem_kn_repacked;
  }
};

struct BareView : View {
  explicit BareView(const Weight& w) {
    data = HostBytes(w);  // want VT001 repacked q8_0_aligned elem_kn_repacked
    dtype = w.dtype;
  }
};

// A copy that forgets one of three.
struct HandMade : View {
  HandMade(const HandMade& other) : View() {
    data = other.data;  // want VT001 elem_kn_repacked
    repacked = other.repacked;
    q8_0_aligned = other.q8_0_aligned;
  }
};

void Linear(View& out, const View& x, const Weight& w) {
  CpuMatmul(out, x, WeightView(w));
  CpuMatmul(out, x, BareView(w));
}
