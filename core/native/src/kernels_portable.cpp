// Plain C++ for whatever the compiler's default target is: always there, and the witness of the others.
#include "body.h"

namespace kvad {
const Kernels* kernels_portable() {
  static const Kernels table = body_table("portable");
  return &table;
}
}  // namespace kvad
