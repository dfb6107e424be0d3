// AVX2 + FMA + F16C + AVX-VNNI. See kernels_256.h.
#if defined(__AVXVNNI__)
#include "kernels_256.h"

namespace kvad {
const Kernels* kernels_avxvnni() {
  static const Kernels table = table_of("avxvnni");
  return &table;
}
}  // namespace kvad
#else
#include "kernels.h"
namespace kvad {
const Kernels* kernels_avxvnni() { return nullptr; }
}
#endif
