// Reads the arguments of one command.
#pragma once
#include "engine.h"

namespace kvad {

struct Engine::Reader {
  const double* at;
  const double* end;
  float* arena;
  size_t arena_floats;
  bool broken = false;

  double next() {
    if (at >= end) { broken = true; return 0; }
    return *at++;
  }
  int64_t integer() { return int64_t(next()); }
  float real() { return float(next()); }
  bool flag() { return next() != 0; }
  View view() {
    const int64_t first = integer();
    View v{arena + first, 0, 0, 0};
    v.rows = integer();
    v.cols = integer();
    v.stride = integer();
    if (first < 0 || v.rows < 1 || v.cols < 1 || v.stride < v.cols || size_t(first + (v.rows - 1) * v.stride + v.cols) > arena_floats) {
      broken = true;
      return {arena, 1, 1, 1};
    }
    return v;
  }
};

}  // namespace kvad
