// Reads the arguments of one command. Whatever a list says, nothing is read or written outside of what the engine owns:
// a number that names nothing, a tensor that does not fit and an argument too few or too many make the command broken.
#pragma once
#include "engine.h"

namespace kvad {

struct Engine::Reader {
  const double* at;
  const double* end;
  Engine* engine;
  bool broken = false;

  double next() {
    if (at >= end) { broken = true; return 0; }
    return *at++;
  }
  int64_t integer() {
    const double value = next();
    // beyond it doubles have no integers of their own, and sums of these stay far from the end of int64_t
    constexpr double most = 9007199254740992.0;
    if (!(value >= -most && value <= most)) { broken = true; return 0; }
    return int64_t(value);
  }
  int64_t count(int64_t least = 0) {
    const int64_t value = integer();
    if (value < least) { broken = true; return least; }
    return value;
  }
  float real() { return float(next()); }
  bool flag() { return next() != 0; }
  View view() {
    const int64_t floats = int64_t(engine->arena_bytes_ / 4), first = integer(), rows = integer(), cols = integer(), stride = integer();
    const bool fits = first >= 0 && rows >= 1 && cols >= 1 && stride >= cols && first <= floats - cols && (rows - 1) <= (floats - cols - first) / stride;
    if (!fits) { broken = true; return {engine->arena_, 1, 1, 1}; }
    return {engine->arena_ + first, rows, cols, stride};
  }
  // null where there is no such weight
  const Weight* weight() {
    const int64_t id = integer();
    if (id >= 0 && size_t(id) < engine->weights_.size()) return &engine->weights_[size_t(id)];
    broken = true;
    return nullptr;
  }
  State* state() {
    const int64_t id = integer();
    if (id >= 0 && size_t(id) < engine->states_.size() && engine->states_[size_t(id)].alive) return &engine->states_[size_t(id)];
    broken = true;
    return nullptr;
  }
  // -1: none
  const Vector* vector() {
    const int64_t id = integer();
    if (id >= 0 && size_t(id) < engine->vectors_.size()) return &engine->vectors_[size_t(id)];
    if (id != -1) broken = true;
    return nullptr;
  }
  // The values of a vector that is to have so many; null: none.
  const float* values(int64_t length) { return values_of(vector(), length); }
  const float* values_of(const Vector* found, int64_t length) {
    if (!found) return nullptr;
    if (found->length < length) broken = true;
    return found->values.as<float>();
  }
  // For what follows all arguments. True: the command can be run.
  bool right(bool fits = true) {
    if (!fits || at != end) broken = true;
    return !broken;
  }
};

inline bool same_shape(const View& a, const View& b) { return a.rows == b.rows && a.cols == b.cols; }
// a * b == product, for counts that may be anything
inline bool is_product(int64_t a, int64_t b, int64_t product) { return a >= 1 && b >= 1 && product % a == 0 && product / a == b; }

}  // namespace kvad
