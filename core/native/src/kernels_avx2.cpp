// AVX2 + FMA + F16C. See kernels_256.h.
#if defined(__AVX2__)
#include "kernels_256.h"

namespace kvad {
const Kernels* kernels_avx2() {
  static const Kernels table = table_of("avx2");
  return &table;
}
}  // namespace kvad
#else
#include "kernels.h"
namespace kvad {
const Kernels* kernels_avx2() { return nullptr; }
}
#endif
