#include "self_check.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "half.h"

namespace kvad {
namespace {

constexpr int64_t kRows = 7, kBlocks = 3, kCols = kBlocks * kBlock;

struct Numbers {
  uint32_t state = 2463534242u;
  uint32_t bits() { state = state * 1664525u + 1013904223u; return state >> 8; }
  float value() { return float(int32_t(bits())) / 8388608.0f - 1.0f; }
};

// Sums in another order differ in their last bits, and no more.
bool close(const float* a, const float* b, int64_t n) {
  float top = 1;
  for (int64_t i = 0; i < n; i++) top = std::fmax(top, std::fabs(b[i]));
  for (int64_t i = 0; i < n; i++)
    if (!(std::fabs(a[i] - b[i]) <= 2e-5f * top)) return false;
  return true;
}

struct Rows {
  int8_t q[kRows * kCols];
  float scale[kRows * kBlocks];
  int32_t over[kRows * kBlocks];
  QuantRows view() const { return {q, scale, over, kBlocks}; }
};

void quantize(const Kernels& k, const float* x, Rows& to) {
  for (int64_t r = 0; r < kRows; r++)
    k.quantize(x + r * kCols, kCols, to.q + r * kCols, to.scale + r * kBlocks, to.over + r * kBlocks);
}

bool same(const Rows& a, const Rows& b) {
  return std::memcmp(a.q, b.q, sizeof a.q) == 0 && std::memcmp(a.over, b.over, sizeof a.over) == 0 && close(a.scale, b.scale, kRows * kBlocks);
}

// A group of random codes: int8 without -128, any nibbles.
void fill(Numbers& numbers, Kind kind, uint8_t* group) {
  const size_t codes = codes_bytes(kind, kBlocks);
  for (size_t i = 0; i < codes; i++) {
    const uint8_t byte = uint8_t(numbers.bits());
    group[i] = kind == Kind::Q8 && byte == 0x80 ? uint8_t(0) : byte;
  }
  for (int64_t i = 0; i < kBlocks * kGroup; i++) {
    const uint16_t scale = f32_to_f16(numbers.value() * 0.01f);
    std::memcpy(group + codes + size_t(i) * 2, &scale, 2);
  }
}

bool quantised_products(const Kernels& k, const Kernels& p) {
  Numbers numbers;
  std::vector<float> x(kRows * kCols);
  for (float& v : x) v = numbers.value();
  Rows mine, theirs;
  quantize(k, x.data(), mine);
  quantize(p, x.data(), theirs);
  if (!same(mine, theirs)) return false;
  for (const Kind kind : {Kind::Q8, Kind::Q4}) {
    alignas(64) uint8_t group[16 * kCols + 64 * kBlocks];
    fill(numbers, kind, group);
    const auto gemv = kind == Kind::Q8 ? k.gemv_q8 : k.gemv_q4, expected_gemv = kind == Kind::Q8 ? p.gemv_q8 : p.gemv_q4;
    const auto gemm = kind == Kind::Q8 ? k.gemm_q8 : k.gemm_q4;
    float expected[kRows * kGroup], one[kGroup], many[kRows * kGroup];
    for (int64_t r = 0; r < kRows; r++) {
      expected_gemv(group, 1, theirs.view(), r, expected + r * kGroup);
      gemv(group, 1, theirs.view(), r, one);
      if (!close(one, expected + r * kGroup, kGroup)) return false;
    }
    for (int64_t rows = 1; rows <= kRows; rows++) {
      gemm(group, theirs.view(), kRows - rows, rows, many, kGroup);
      if (!close(many, expected + (kRows - rows) * kGroup, rows * kGroup)) return false;
    }
  }
  return true;
}

bool dense_products(const Kernels& k, const Kernels& p) {
  constexpr int64_t cols = 77, weights = 13;
  Numbers numbers;
  std::vector<float> x(kRows * cols), w(weights * cols);
  for (float& v : x) v = numbers.value();
  for (float& v : w) v = numbers.value();
  std::vector<uint16_t> f16(w.size()), theirs(w.size()), bf16(w.size());
  k.to_f16(w.data(), f16.data(), int64_t(w.size()));
  p.to_f16(w.data(), theirs.data(), int64_t(w.size()));
  for (size_t i = 0; i < w.size(); i++) bf16[i] = f32_to_bf16(w[i]);
  if (f16 != theirs) return false;
  for (int64_t r = 0; r < weights; r++) {
    const float mine[3] = {k.dot_f32(&w[size_t(r * cols)], x.data(), cols), k.dot_f16(&f16[size_t(r * cols)], x.data(), cols),
                           k.dot_bf16(&bf16[size_t(r * cols)], x.data(), cols)};
    const float expected[3] = {p.dot_f32(&w[size_t(r * cols)], x.data(), cols), p.dot_f16(&f16[size_t(r * cols)], x.data(), cols),
                               p.dot_bf16(&bf16[size_t(r * cols)], x.data(), cols)};
    if (!close(mine, expected, 3)) return false;
  }
  for (const Kind kind : {Kind::F32, Kind::F16, Kind::BF16}) {
    const void* stored = kind == Kind::F32 ? static_cast<const void*>(w.data()) : kind == Kind::F16 ? f16.data() : bf16.data();
    std::vector<float> panel(kGroup * cols), expected_panel(kGroup * cols);
    k.pack(kind, stored, cols, weights, cols, panel.data());
    p.pack(kind, stored, cols, weights, cols, expected_panel.data());
    if (panel != expected_panel) return false;
    float mine[kRows * kGroup], expected[kRows * kGroup];
    k.gemm_f32(panel.data(), kGroup, cols, x.data(), cols, kRows, mine, kGroup, true);
    p.gemm_f32(panel.data(), kGroup, cols, x.data(), cols, kRows, expected, kGroup, true);
    if (!close(mine, expected, kRows * kGroup)) return false;
  }
  return true;
}

}  // namespace

bool agrees_with_portable(const Kernels& kernels) {
  const Kernels& portable = *kernels_portable();
  return &kernels == &portable || (quantised_products(kernels, portable) && dense_products(kernels, portable));
}

}  // namespace kvad
