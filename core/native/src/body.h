// Kernels as plain loops that the compiler turns into the vector instructions of the file that includes this one.
// Included once per instruction set, inside its own namespace.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "format.h"
#include "half.h"
#include "kernels.h"

namespace {

using namespace kvad;

// exp for |x| < 87, relative error < 2e-7: 2^n * polynomial of the remainder (Cephes' coefficients for expf).
inline float exp_fast(float x) {
  x = x > 88.0f ? 88.0f : (x < -87.0f ? -87.0f : x);
  // 1.5 * 2^23 leaves the nearest integer in the last bits: rounding that every compiler turns into vectors
  const float n = (x * 1.44269504088896341f + 12582912.0f) - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const uint32_t bits = uint32_t(int32_t(n) + 127) << 23;
  float two_n;
  std::memcpy(&two_n, &bits, 4);
  return p * two_n;
}

inline float sigmoid_fast(float x) { return 1.0f / (1.0f + exp_fast(-x)); }

float body_exponents(const float* s, int64_t count, float top, float* p) {
  // below -87 the true value is less than 1e-38: zero keeps masked keys out
  for (int64_t j = 0; j < count; j++) {
    const float d = s[j] - top, e = exp_fast(d);
    p[j] = d < -87.0f ? 0.0f : e;
  }
  float lanes[16] = {0}, sum = 0;
  int64_t j = 0;
  for (; j + 16 <= count; j += 16)
    for (int l = 0; l < 16; l++) lanes[l] += p[j + l];
  for (; j < count; j++) sum += p[j];
  for (const float lane : lanes) sum += lane;
  return sum;
}

inline float activation(int f, float x) {
  switch (f) {
    case 0: return x * sigmoid_fast(x);                                                    // silu
    case 1: return 0.5f * x * (1.0f + std::erf(x * 0.70710678118654752f));                 // gelu
    case 2: {                                                                              // gelu_tanh
      const float u = 0.79788456080286536f * (x + 0.044715f * x * x * x);
      return x * sigmoid_fast(2.0f * u);                                                   // (1 + tanh u) / 2 = sigmoid(2u)
    }
    case 3: return x * sigmoid_fast(1.702f * x);                                           // quick_gelu
    case 4: return x > 0 ? x : 0.0f;                                                       // relu
    case 5: { const float y = x > 0 ? x : 0.0f; return y * y; }                            // relu2
    case 6: return std::tanh(x);                                                           // tanh
    case 7: return sigmoid_fast(x);                                                        // sigmoid
    case 8: return x > 20.0f ? x : std::log1p(std::exp(x));                                // softplus
    default: return x;                                                                     // identity
  }
}

template <int F> void activate_loop(const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = activation(F, x[i]);
}
template <int F> void gated_loop(const float* g, const float* x, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = activation(F, g[i]) * x[i];
}

void body_activate(int f, const float* x, float* out, int64_t n) {
  static void (*const table[])(const float*, float*, int64_t) = {
      activate_loop<0>, activate_loop<1>, activate_loop<2>, activate_loop<3>, activate_loop<4>,
      activate_loop<5>, activate_loop<6>, activate_loop<7>, activate_loop<8>, activate_loop<9>};
  table[f](x, out, n);
}

void body_gated(int f, const float* g, const float* x, float* out, int64_t n) {
  static void (*const table[])(const float*, const float*, float*, int64_t) = {
      gated_loop<0>, gated_loop<1>, gated_loop<2>, gated_loop<3>, gated_loop<4>,
      gated_loop<5>, gated_loop<6>, gated_loop<7>, gated_loop<8>, gated_loop<9>};
  table[f](g, x, out, n);
}

void body_rms_norm(const float* x, const float* w, float offset, float eps, int64_t n, float* out) {
  float lanes[16] = {0};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int l = 0; l < 16; l++) lanes[l] += x[i + l] * x[i + l];
  double sum = 0;
  for (; i < n; i++) sum += double(x[i]) * x[i];
  for (int l = 0; l < 16; l++) sum += lanes[l];
  const float r = float(1.0 / std::sqrt(sum / double(n) + double(eps)));
  if (w)
    for (int64_t k = 0; k < n; k++) out[k] = x[k] * r * (w[k] + offset);
  else
    for (int64_t k = 0; k < n; k++) out[k] = x[k] * r;
}

void body_layer_norm(const float* x, const float* w, const float* b, float offset, float eps, int64_t n, float* out) {
  double mean = 0, var = 0;
  for (int64_t i = 0; i < n; i++) mean += x[i];
  mean /= double(n);
  for (int64_t i = 0; i < n; i++) { const double d = x[i] - mean; var += d * d; }
  // The mean in two floats: of values that are nearly equal, the rounding of one would be divided by their tiny deviation.
  const float r = float(1.0 / std::sqrt(var / double(n) + double(eps))), m = float(mean), rest = float(mean - double(m));
  for (int64_t i = 0; i < n; i++) {
    float y = ((x[i] - m) - rest) * r;
    if (w) y *= w[i] + offset;
    if (b) y += b[i];
    out[i] = y;
  }
}

void body_axpy(const float* x, float* out, float keep, float scale, int64_t n) {
  if (keep == 1.0f && scale == 1.0f)
    for (int64_t i = 0; i < n; i++) out[i] += x[i];
  else
    for (int64_t i = 0; i < n; i++) out[i] = keep * out[i] + scale * x[i];
}

inline float wide_at(Kind kind, const void* data, int64_t i) {
  return kind == Kind::F32 ? static_cast<const float*>(data)[i] : f16_to_f32(static_cast<const uint16_t*>(data)[i]);
}

constexpr int64_t kSlice = 64;  // columns of a cached row that are widened at once

void body_scores(Kind kind, const void* keys, int64_t stride, int64_t count, int64_t dim, const float* q, int64_t queries, float* out, int64_t ldo) {
  float wide[kSlice];
  for (int64_t j = 0; j < count; j++)
    for (int64_t d = 0; d < dim; d += kSlice) {
      const int64_t n = std::min(kSlice, dim - d);
      for (int64_t c = 0; c < n; c++) wide[c] = wide_at(kind, keys, j * stride + d + c);
      for (int64_t i = 0; i < queries; i++) {
        const float* x = q + i * dim + d;
        float lanes[8] = {0}, sum = 0;
        int64_t c = 0;
        for (; c + 8 <= n; c += 8)
          for (int l = 0; l < 8; l++) lanes[l] += wide[c + l] * x[c + l];
        for (; c < n; c++) sum += wide[c] * x[c];
        for (const float lane : lanes) sum += lane;
        out[i * ldo + j] = d == 0 ? sum : out[i * ldo + j] + sum;
      }
    }
}

void body_mix(Kind kind, const void* values, int64_t stride, int64_t count, int64_t dim, const float* p, int64_t ldp, int64_t queries, float* acc, int64_t lda) {
  float wide[kSlice];
  for (int64_t d = 0; d < dim; d += kSlice) {
    const int64_t n = std::min(kSlice, dim - d);
    for (int64_t j = 0; j < count; j++) {
      for (int64_t c = 0; c < n; c++) wide[c] = wide_at(kind, values, j * stride + d + c);
      for (int64_t i = 0; i < queries; i++) {
        const float w = p[i * ldp + j];
        float* a = acc + i * lda + d;
        for (int64_t c = 0; c < n; c++) a[c] += w * wide[c];
      }
    }
  }
}

// Below it 127 / top would be no number, and the products are zero in any case.
constexpr float kLeastTop = 1e-36f;

// codes = round(x / s), s = max|x| / 127: the rule that the reference ops follow too.
void body_quantize(const float* x, int64_t cols, int8_t* q, float* scale, int32_t* over) {
  const int64_t blocks = blocks_of(cols);
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t n = std::min<int64_t>(kBlock, cols - b * kBlock);
    float v[kBlock];
    if (n == kBlock) std::memcpy(v, x + b * kBlock, sizeof v);
    else {
      std::memset(v, 0, sizeof v);
      std::memcpy(v, x + b * kBlock, size_t(n) * 4);
    }
    // As integers: magnitudes in the order of their bits, and what is no number above all.
    uint32_t bits[kBlock], most = 0;
    std::memcpy(bits, v, sizeof v);
    for (int i = 0; i < kBlock; i++) most = std::max(most, bits[i] & 0x7fffffffu);
    const float top = float_of(most);
    if (most >= 0x7f800000u) {  // its products are no numbers either, whatever the codes
      std::memset(q + b * kBlock, 0, kBlock);
      scale[b] = float_of(0x7fc00000u);
      over[b] = 0;
      continue;
    }
    const float inverse = top > kLeastTop ? 127.0f / top : 0.0f;
    int32_t codes[kBlock], total = 0;
    for (int i = 0; i < kBlock; i++) codes[i] = int32_t(std::nearbyintf(v[i] * inverse));
    for (int i = 0; i < kBlock; i++) total += codes[i];
    for (int i = 0; i < kBlock; i++) q[b * kBlock + i] = int8_t(codes[i]);
    scale[b] = top / 127.0f;
    over[b] = -128 * total;
  }
}

template <class Load> float dot_loop(Load load, const float* x, int64_t cols) {
  float lanes[32] = {0};
  int64_t i = 0;
  for (; i + 32 <= cols; i += 32)
    for (int l = 0; l < 32; l++) lanes[l] += load(i + l) * x[i + l];
  float sum = 0;
  for (; i < cols; i++) sum += load(i) * x[i];
  for (int l = 16; l > 0; l /= 2)
    for (int k = 0; k < l; k++) lanes[k] += lanes[k + l];
  return sum + lanes[0];
}
float body_dot_f32(const float* w, const float* x, int64_t cols) {
  return dot_loop([w](int64_t i) { return w[i]; }, x, cols);
}
float body_dot_bf16(const uint16_t* w, const float* x, int64_t cols) {
  return dot_loop([w](int64_t i) { return bf16_to_f32(w[i]); }, x, cols);
}
[[maybe_unused]] float body_dot_f16(const uint16_t* w, const float* x, int64_t cols) {
  return dot_loop([w](int64_t i) { return f16_to_f32(w[i]); }, x, cols);
}

[[maybe_unused]] void body_widen(Kind kind, const void* from, float* to, int64_t n) {
  if (kind == Kind::F32) std::memcpy(to, from, size_t(n) * 4);
  else if (kind == Kind::BF16)
    for (int64_t i = 0; i < n; i++) to[i] = bf16_to_f32(static_cast<const uint16_t*>(from)[i]);
  else
    for (int64_t i = 0; i < n; i++) to[i] = f16_to_f32(static_cast<const uint16_t*>(from)[i]);
}
[[maybe_unused]] void body_to_f16(const float* from, uint16_t* to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = f32_to_f16(from[i]);
}

template <class Widen> void pack_with(Widen widen, Kind kind, const void* w, int64_t ldw, int64_t rows, int64_t count, float* panel) {
  // 16 x 16 tiles through a small buffer, so that both sides are read and written in order
  const size_t size = dense_bytes(kind);
  float tile[kGroup][16];
  for (int64_t k = 0; k < count; k += 16) {
    const int64_t n = std::min<int64_t>(16, count - k);
    for (int64_t r = 0; r < kGroup; r++) {
      if (r < rows) widen(kind, static_cast<const char*>(w) + size_t(r * ldw + k) * size, tile[r], n);
      else std::memset(tile[r], 0, sizeof tile[r]);
    }
    for (int64_t c = 0; c < n; c++)
      for (int64_t r = 0; r < kGroup; r++) panel[(k + c) * kGroup + r] = tile[r][c];
  }
}
[[maybe_unused]] void body_pack(Kind kind, const void* w, int64_t ldw, int64_t rows, int64_t count, float* panel) {
  pack_with(body_widen, kind, w, ldw, rows, count, panel);
}

template <int M> void gemm_f32_tile(const float* panel, int64_t ldp, int64_t k, const float* x, int64_t ldx, float* out, int64_t ldo, bool first) {
  float acc[M][kGroup];
  for (int m = 0; m < M; m++)
    for (int r = 0; r < kGroup; r++) acc[m][r] = 0.0f;
  for (int64_t c = 0; c < k; c++) {
    const float* w = panel + c * ldp;
    for (int m = 0; m < M; m++) {
      const float a = x[m * ldx + c];
      for (int r = 0; r < kGroup; r++) acc[m][r] += a * w[r];
    }
  }
  for (int m = 0; m < M; m++)
    for (int r = 0; r < kGroup; r++) out[m * ldo + r] = first ? acc[m][r] : out[m * ldo + r] + acc[m][r];
}
[[maybe_unused]] void body_gemm_f32(const float* panel, int64_t ldp, int64_t k, const float* x, int64_t ldx, int64_t rows, float* out, int64_t ldo, bool first) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) gemm_f32_tile<4>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first);
  for (; i < rows; i++) gemm_f32_tile<1>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first);
}

// code of row r, column c of a block
inline int code_q8(const uint8_t* block, int r, int c) { return int8_t(block[(c / 4) * 64 + r * 4 + c % 4]); }
inline int code_q4(const uint8_t* block, int r, int c) {
  const uint8_t byte = block[(c / 4 % 4) * 64 + r * 4 + c % 4];
  return int(c < 16 ? byte & 15 : byte >> 4) - 8;
}

template <bool Q8> [[maybe_unused]] void gemv_plain(const uint8_t* group, const QuantRows& x, int64_t row, float* out) {
  const size_t stride = Q8 ? 512 : 256;
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + stride * size_t(x.blocks));
  float acc[kGroup] = {0};
  for (int64_t b = 0; b < x.blocks; b++) {
    const uint8_t* block = group + stride * size_t(b);
    const int8_t* q = x.q + (row * x.blocks + b) * kBlock;
    const float xs = x.scale[row * x.blocks + b];
    for (int r = 0; r < kGroup; r++) {
      int32_t sum = 0;
      for (int c = 0; c < kBlock; c++) sum += (Q8 ? code_q8(block, r, c) : code_q4(block, r, c)) * q[c];
      acc[r] += float(sum) * (f16_to_f32(scales[b * kGroup + r]) * xs);
    }
  }
  std::memcpy(out, acc, sizeof acc);
}
template <bool Q8> [[maybe_unused]] void gemm_plain(const uint8_t* group, const QuantRows& x, int64_t first, int64_t count, float* out, int64_t ldo) {
  for (int64_t i = 0; i < count; i++) gemv_plain<Q8>(group, x, first + i, out + i * ldo);
}

// What a set has for one group or row, for several: one after the other.
template <bool Q8, void (*One)(const uint8_t*, const QuantRows&, int64_t, float*)>
[[maybe_unused]] void each_group(const uint8_t* groups, int64_t count, const QuantRows& x, int64_t row, float* out) {
  const size_t bytes = group_bytes(Q8 ? Kind::Q8 : Kind::Q4, x.blocks);
  for (int64_t g = 0; g < count; g++) One(groups + size_t(g) * bytes, x, row, out + g * kGroup);
}
template <class Value, float (*One)(const Value*, const float*, int64_t)>
[[maybe_unused]] void each_dot(const Value* w, int64_t apart, const float* x, int64_t cols, float* out) {
  for (int64_t r = 0; r < 4; r++) out[r] = One(w + r * apart, x, cols);
}

[[maybe_unused]] Kernels body_table(const char* name) {
  Kernels k{};
  k.name = name;
  k.quantize = body_quantize;
  k.gemv_q8 = each_group<true, gemv_plain<true>>;
  k.gemv_q4 = each_group<false, gemv_plain<false>>;
  k.gemm_q8 = gemm_plain<true>;
  k.gemm_q4 = gemm_plain<false>;
  k.dot_f32 = body_dot_f32;
  k.dot_f16 = body_dot_f16;
  k.dot_bf16 = body_dot_bf16;
  k.dot4_f32 = each_dot<float, body_dot_f32>;
  k.dot4_f16 = each_dot<uint16_t, body_dot_f16>;
  k.dot4_bf16 = each_dot<uint16_t, body_dot_bf16>;
  k.pack = body_pack;
  k.gemm_f32 = body_gemm_f32;
  k.widen = body_widen;
  k.to_f16 = body_to_f16;
  k.scores = body_scores;
  k.mix = body_mix;
  k.exponents = body_exponents;
  k.activate = body_activate;
  k.gated = body_gated;
  k.rms_norm = body_rms_norm;
  k.layer_norm = body_layer_norm;
  k.axpy = body_axpy;
  return k;
}

}  // namespace
