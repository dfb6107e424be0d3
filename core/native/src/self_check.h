// Whether a table of kernels computes what the portable one does, on a small fixed input. Run once before a table is
// used: an instruction set that nobody has tested, or a compiler's mistake, must not give wrong answers in silence.
#pragma once
#include "kernels.h"

namespace kvad {

// Products of every kind (q8, q4, f32, f16, bf16; one row and several), and the conversions before them.
bool agrees_with_portable(const Kernels& kernels);

}  // namespace kvad
