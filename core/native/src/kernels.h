// The table of kernels that an instruction set fills in. Every pointer is set in every table.
#pragma once
#include <cstdint>

#include "format.h"

namespace kvad {

// Activations of a quantised product: int8 codes in blocks of 32 with one f32 scale each; `over` is what a block adds to
// a product with weights that are 128 too large, to be taken off: -128 times the sum of its codes. Rows are `blocks` blocks.
struct QuantRows {
  const int8_t* q;
  const float* scale;
  const int32_t* over;
  int64_t blocks;
};

struct Kernels {
  const char* name;

  // x[cols] -> codes, scales and `over` of ceil(cols / 32) blocks.
  void (*quantize)(const float* x, int64_t cols, int8_t* q, float* scale, int32_t* over);

  // `count` adjacent groups of 16 weight rows times one row of activations: out[16 * count].
  void (*gemv_q8)(const uint8_t* groups, int64_t count, const QuantRows& x, int64_t row, float* out);
  void (*gemv_q4)(const uint8_t* groups, int64_t count, const QuantRows& x, int64_t row, float* out);

  // One group times `count` rows from `first` on: out[i * ldo + 0..15].
  void (*gemm_q8)(const uint8_t* group, const QuantRows& x, int64_t first, int64_t count, float* out, int64_t ldo);
  void (*gemm_q4)(const uint8_t* group, const QuantRows& x, int64_t first, int64_t count, float* out, int64_t ldo);

  // Dense rows: dot of w[cols] (stored kind) and x[cols].
  float (*dot_f32)(const float* w, const float* x, int64_t cols);
  float (*dot_f16)(const uint16_t* w, const float* x, int64_t cols);
  float (*dot_bf16)(const uint16_t* w, const float* x, int64_t cols);
  // The same of four rows of w, `apart` elements from one to the next: out[4].
  void (*dot4_f32)(const float* w, int64_t apart, const float* x, int64_t cols, float* out);
  void (*dot4_f16)(const uint16_t* w, int64_t apart, const float* x, int64_t cols, float* out);
  void (*dot4_bf16)(const uint16_t* w, int64_t apart, const float* x, int64_t cols, float* out);

  // panel[k * 16 + r] = w[r * ldw + k] as f32 for `rows` <= 16 rows (others 0), `count` columns.
  void (*pack)(Kind kind, const void* w, int64_t ldw, int64_t rows, int64_t count, float* panel);
  // out[i * ldo + 0..15] (+)= sum over c < k of x[i * ldx + c] * panel[c * ldp + 0..15]; `first`: overwrite, else add. The
  // sum of a panel starts at zero: one that went on from `out` would round each product to the digits of all before it.
  void (*gemm_f32)(const float* panel, int64_t ldp, int64_t k, const float* x, int64_t ldx, int64_t rows, float* out, int64_t ldo, bool first);

  // to f32
  void (*widen)(Kind kind, const void* from, float* to, int64_t n);
  void (*to_f16)(const float* from, uint16_t* to, int64_t n);

  // Few queries over cached rows as they are stored (f32 or f16), `stride` elements apart; each row is read once for all.
  // out[i * ldo + j] = q[i * dim ..] · keys[j * stride ..]
  void (*scores)(Kind kind, const void* keys, int64_t stride, int64_t count, int64_t dim, const float* q, int64_t queries, float* out, int64_t ldo);
  // acc[i * lda ..] += sum_j p[i * ldp + j] * values[j * stride ..], `dim` columns
  void (*mix)(Kind kind, const void* values, int64_t stride, int64_t count, int64_t dim, const float* p, int64_t ldp, int64_t queries, float* acc, int64_t lda);
  // p[j] = exp(s[j] - top), returns their sum
  float (*exponents)(const float* s, int64_t count, float top, float* p);

  // Elementwise over n contiguous values; codes as in opcodes.h.
  void (*activate)(int f, const float* x, float* out, int64_t n);
  void (*gated)(int f, const float* gate, const float* x, float* out, int64_t n);
  void (*rms_norm)(const float* x, const float* weight, float offset, float eps, int64_t n, float* out);
  void (*layer_norm)(const float* x, const float* weight, const float* bias, float offset, float eps, int64_t n, float* out);
  void (*axpy)(const float* x, float* out, float keep, float scale, int64_t n);
};

constexpr int64_t kKeyTile = 64;

// The best table that this machine runs, or the one named (null if it cannot run here).
const Kernels* kernels_for(const char* name);
// Names that this machine runs, best first, separated by commas.
const char* kernels_here();
// Names of those that this machine has and that do not compute what the portable ones do: never used.
const char* kernels_distrusted();

const Kernels* kernels_portable();
const Kernels* kernels_avx2();
const Kernels* kernels_avxvnni();
const Kernels* kernels_avx512();
const Kernels* kernels_neon();
const Kernels* kernels_i8mm();

}  // namespace kvad
