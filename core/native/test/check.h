// What the checks share.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine.h"

namespace kvad {

// Counts and prints what is not right.
void expect(bool right, const char* table, const char* what, int64_t shape = 0);

struct Random {
  uint64_t state;
  uint32_t bits() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return uint32_t(state >> 33);
  }
  int64_t from(int64_t low, int64_t high) { return low + int64_t(bits()) % (high - low + 1); }
  float value(float scale = 1) { return scale * (float(int32_t(bits()) - (1 << 30)) / float(1 << 30)); }
  std::vector<float> values(int64_t n, float scale = 1) {
    std::vector<float> all(static_cast<size_t>(n));
    for (float& v : all) v = value(scale);
    return all;
  }
};

bool close(const float* a, const float* b, int64_t n, float tolerance = 2e-5f);
std::vector<uint16_t> narrowed(const std::vector<float>& from, Kind kind);

// Lists of commands, with random shapes: those of this table and so many threads against the portable kernels alone; and
// lists that are wrong in all ways, which have to be refused or harmless. (ops.cpp, lists.cpp)
void lists_of(const Kernels& table, int threads, int turns);
void wrong_lists(int turns);
// What becomes of a process whose memory fails, of a mapped file and of another one. (faults.cpp)
void faults();

}  // namespace kvad
