// Kernels of 256-bit registers: AVX2 + FMA + F16C, and AVX-VNNI where the file that includes this one is compiled for it.
// Quantised products work on 32-byte chunks (8 weight rows x 4 columns), for one row of activations (decode) or several at
// a time (prefill), which then share each load and unpacking of the weights.
#pragma once
#include <immintrin.h>

#include "body.h"

namespace {

// Asks for what is read later.
inline void ahead(const uint8_t* p, int64_t distance, int lines) {
  for (int i = 0; i < lines; i++) _mm_prefetch(reinterpret_cast<const char*>(p) + distance + 64 * i, _MM_HINT_T0);
}
inline __m256 scales8(const uint16_t* s) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s))); }
inline __m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
// Ends an expression here: compilers put sums off to where they are used, and spill what they have to keep until then.
inline void settle(__m256i& a, __m256i& b) { asm("" : "+x"(a), "+x"(b)); }
inline int word(const int8_t* p) { int v; std::memcpy(&v, p, 4); return v; }

// Loops over rows and groups are unrolled by force: an accumulator that stays an element of an array in memory is stored
// and loaded at each step.
#define EACH_ROW _Pragma("GCC unroll 6") for (int m = 0; m < M; m++)
#define EACH_GROUP _Pragma("GCC unroll 4") for (int n = 0; n < N; n++)

#if defined(__AVXVNNI__)
// int32 sums of one block. vpdpbusd multiplies unsigned by signed bytes, so the weights are the unsigned side (int8 + 128 by
// xor 0x80, nibbles as they are) and the offset is taken off through the sum of the activations.
constexpr int kRows = 6;
template <bool Q8> inline __m256i first_sum(int32_t over) { return _mm256_set1_epi32(Q8 ? over : over >> 4); }
template <bool Q8> inline __m256i last_sum(__m256i sum, int32_t) { return sum; }
template <bool Q8> inline void add_chunk(const uint8_t* chunk, __m256i v, __m256i u, __m256i& sum) {
  const __m256i w = load(chunk), nibble = _mm256_set1_epi8(15);
  if (Q8) {
    sum = _mm256_dpbusd_avx_epi32(sum, _mm256_xor_si256(w, _mm256_set1_epi8(char(0x80))), v);
  } else {
    sum = _mm256_dpbusd_avx_epi32(sum, _mm256_and_si256(w, nibble), v);
    sum = _mm256_dpbusd_avx_epi32(sum, _mm256_and_si256(_mm256_srli_epi16(w, 4), nibble), u);
  }
}

template <int M> inline void block_q8(const uint8_t* block, const int8_t* q, int64_t ldq, const int32_t* over, int64_t blocks, __m256i* low, __m256i* high) {
  const __m256i flip = _mm256_set1_epi8(char(0x80));
  EACH_ROW low[m] = high[m] = _mm256_set1_epi32(over[m * blocks]);
  #pragma GCC unroll 8
  for (int j = 0; j < 8; j++) {
    const __m256i w0 = _mm256_xor_si256(load(block + j * 64), flip), w1 = _mm256_xor_si256(load(block + j * 64 + 32), flip);
    EACH_ROW {
      const __m256i v = _mm256_set1_epi32(word(q + m * ldq + 4 * j));
      low[m] = _mm256_dpbusd_avx_epi32(low[m], w0, v);
      high[m] = _mm256_dpbusd_avx_epi32(high[m], w1, v);
      settle(low[m], high[m]);
    }
  }
}

template <int M> inline void block_q4(const uint8_t* block, const int8_t* q, int64_t ldq, const int32_t* over, int64_t blocks, __m256i* low, __m256i* high) {
  const __m256i nibble = _mm256_set1_epi8(15);
  EACH_ROW low[m] = high[m] = _mm256_set1_epi32(over[m * blocks] >> 4);
  #pragma GCC unroll 8
  for (int j = 0; j < 8; j++) {
    __m256i w0 = load(block + j % 4 * 64), w1 = load(block + j % 4 * 64 + 32);
    if (j >= 4) w0 = _mm256_srli_epi16(w0, 4), w1 = _mm256_srli_epi16(w1, 4);
    w0 = _mm256_and_si256(w0, nibble), w1 = _mm256_and_si256(w1, nibble);
    EACH_ROW {
      const __m256i v = _mm256_set1_epi32(word(q + m * ldq + 4 * j));
      low[m] = _mm256_dpbusd_avx_epi32(low[m], w0, v);
      high[m] = _mm256_dpbusd_avx_epi32(high[m], w1, v);
      settle(low[m], high[m]);
    }
  }
}
#else
// int32 sums of one block. maddubs wants an unsigned side, so |w| and x with the sign of w. A pair is at most 2 * 127 * 127
// and fits int16.
constexpr int kRows = 4;
template <bool Q8> inline __m256i first_sum(int32_t) { return _mm256_setzero_si256(); }
// Nibbles are unsigned as they are, and 8 too large. Eight pairs of at most 2 * 15 * 127 fit int16, so they are widened once a block.
template <bool Q8> inline __m256i last_sum(__m256i sum, int32_t over) {
  return Q8 ? sum : _mm256_add_epi32(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)), _mm256_set1_epi32(over >> 4));
}
template <bool Q8> inline void add_chunk(const uint8_t* chunk, __m256i v, __m256i u, __m256i& sum) {
  const __m256i w = load(chunk), nibble = _mm256_set1_epi8(15);
  if (Q8) {
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(v, w));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  } else {
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(_mm256_and_si256(w, nibble), v));
    sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(w, 4), nibble), u));
  }
}

template <int M> inline void block_q8(const uint8_t* block, const int8_t* q, int64_t ldq, const int32_t*, int64_t, __m256i* low, __m256i* high) {
  const __m256i one = _mm256_set1_epi16(1);
  EACH_ROW low[m] = high[m] = _mm256_setzero_si256();
  #pragma GCC unroll 8
  for (int j = 0; j < 8; j++) {
    const __m256i w0 = load(block + j * 64), w1 = load(block + j * 64 + 32);
    const __m256i a0 = _mm256_abs_epi8(w0), a1 = _mm256_abs_epi8(w1);
    EACH_ROW {
      const __m256i v = _mm256_set1_epi32(word(q + m * ldq + 4 * j));
      low[m] = _mm256_add_epi32(low[m], _mm256_madd_epi16(_mm256_maddubs_epi16(a0, _mm256_sign_epi8(v, w0)), one));
      high[m] = _mm256_add_epi32(high[m], _mm256_madd_epi16(_mm256_maddubs_epi16(a1, _mm256_sign_epi8(v, w1)), one));
      settle(low[m], high[m]);
    }
  }
}

template <int M> inline void block_q4(const uint8_t* block, const int8_t* q, int64_t ldq, const int32_t* over, int64_t blocks, __m256i* low, __m256i* high) {
  const __m256i one = _mm256_set1_epi16(1), nibble = _mm256_set1_epi8(15);
  EACH_ROW low[m] = high[m] = _mm256_setzero_si256();
  #pragma GCC unroll 4
  for (int j = 0; j < 4; j++) {
    const __m256i w0 = load(block + j * 64), w1 = load(block + j * 64 + 32);
    const __m256i l0 = _mm256_and_si256(w0, nibble), l1 = _mm256_and_si256(w1, nibble);
    EACH_ROW {
      const __m256i v = _mm256_set1_epi32(word(q + m * ldq + 4 * j));
      low[m] = _mm256_add_epi16(low[m], _mm256_maddubs_epi16(l0, v));
      high[m] = _mm256_add_epi16(high[m], _mm256_maddubs_epi16(l1, v));
      settle(low[m], high[m]);
    }
    const __m256i h0 = _mm256_and_si256(_mm256_srli_epi16(w0, 4), nibble), h1 = _mm256_and_si256(_mm256_srli_epi16(w1, 4), nibble);
    EACH_ROW {
      const __m256i v = _mm256_set1_epi32(word(q + m * ldq + 16 + 4 * j));
      low[m] = _mm256_add_epi16(low[m], _mm256_maddubs_epi16(h0, v));
      high[m] = _mm256_add_epi16(high[m], _mm256_maddubs_epi16(h1, v));
      settle(low[m], high[m]);
    }
  }
  EACH_ROW {
    const __m256i off = _mm256_set1_epi32(over[m * blocks] >> 4);
    low[m] = _mm256_add_epi32(_mm256_madd_epi16(low[m], one), off);
    high[m] = _mm256_add_epi32(_mm256_madd_epi16(high[m], one), off);
  }
}
#endif

// N adjacent groups times one row of activations. Reading is what decoding takes, and a thread reads fastest along several
// streams, a line of each in turn (block after block it is slower by a tenth or more). The processor follows the streams by
// itself; asking a few lines ahead helps it over the sums between them, and further ahead costs more than it brings. At the
// end of the codes that is the beginning of the groups that follow, and their scales, which lie where no stream leads.
constexpr int64_t kAhead = 320;
template <bool Q8, int N> void streams(const uint8_t* group, const QuantRows& x, int64_t row, float* out) {
  constexpr int chunks = Q8 ? 8 : 4, stride = 64 * chunks;
  const int64_t bytes = int64_t(group_bytes(Q8 ? Kind::Q8 : Kind::Q4, x.blocks)), codes = stride * x.blocks;
  const uint8_t *start = group, *scales = group + codes;
  const int8_t* q = x.q + row * x.blocks * kBlock;
  const float* xs = x.scale + row * x.blocks;
  const int32_t* over = x.over + row * x.blocks;
  __m256 low[N], high[N];
  EACH_GROUP low[n] = high[n] = _mm256_setzero_ps();
  for (int64_t b = 0; b < x.blocks; b++, group += stride, q += kBlock, scales += 2 * kGroup) {
    __m256i a[N], c[N];
    EACH_GROUP a[n] = c[n] = first_sum<Q8>(over[b]);
    #pragma GCC unroll 8
    for (int j = 0; j < chunks; j++) {
      const int64_t later = b * stride + j * 64 + kAhead;
      const uint8_t* soon = start + (later < codes ? later : later - codes + N * bytes);
      const __m256i v = _mm256_set1_epi32(word(q + 4 * j)), u = Q8 ? v : _mm256_set1_epi32(word(q + 16 + 4 * j));
      EACH_GROUP {
        const uint8_t* chunk = group + n * bytes + j * 64;
        ahead(soon + n * bytes, 0, 1);
        add_chunk<Q8>(chunk, v, u, a[n]);
        add_chunk<Q8>(chunk + 32, v, u, c[n]);
        settle(a[n], c[n]);
      }
    }
    const __m256 s = _mm256_broadcast_ss(xs + b);
    EACH_GROUP {
      const uint8_t* scale = scales + n * bytes;
      ahead(scale, N * bytes, 1);
      const __m256 s0 = scales8(reinterpret_cast<const uint16_t*>(scale)), s1 = scales8(reinterpret_cast<const uint16_t*>(scale) + 8);
      low[n] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(last_sum<Q8>(a[n], over[b])), _mm256_mul_ps(s0, s), low[n]);
      high[n] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(last_sum<Q8>(c[n], over[b])), _mm256_mul_ps(s1, s), high[n]);
    }
  }
  EACH_GROUP {
    _mm256_storeu_ps(out + n * kGroup, low[n]);
    _mm256_storeu_ps(out + n * kGroup + 8, high[n]);
  }
}

template <bool Q8> void gemv(const uint8_t* groups, int64_t count, const QuantRows& x, int64_t row, float* out) {
  const size_t bytes = group_bytes(Q8 ? Kind::Q8 : Kind::Q4, x.blocks);
  int64_t g = 0;
  for (; g + 4 <= count; g += 4) streams<Q8, 4>(groups + size_t(g) * bytes, x, row, out + g * kGroup);
  for (; g + 2 <= count; g += 2) streams<Q8, 2>(groups + size_t(g) * bytes, x, row, out + g * kGroup);
  if (g < count) streams<Q8, 1>(groups + size_t(g) * bytes, x, row, out + g * kGroup);
}

// One group times M rows of activations, which share each load and unpacking of the weights.
template <bool Q8, int M> void tile(const uint8_t* group, const QuantRows& x, int64_t first, float* out, int64_t ldo) {
  constexpr int stride = Q8 ? 512 : 256;
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + size_t(stride) * size_t(x.blocks));
  const int8_t* q = x.q + first * x.blocks * kBlock;
  const float* xs = x.scale + first * x.blocks;
  const int32_t* over = x.over + first * x.blocks;
  const int64_t ldq = x.blocks * kBlock;
  __m256 low[M], high[M];
  EACH_ROW low[m] = high[m] = _mm256_setzero_ps();
  for (int64_t b = 0; b < x.blocks; b++, group += stride, q += kBlock, scales += kGroup) {
    ahead(group, Q8 ? 1024 : 2048, stride / 64);
    __m256i a[M], c[M];
    if (Q8) block_q8<M>(group, q, ldq, over + b, x.blocks, a, c);
    else block_q4<M>(group, q, ldq, over + b, x.blocks, a, c);
    const __m256 s0 = scales8(scales), s1 = scales8(scales + 8);
    EACH_ROW {
      const __m256 s = _mm256_broadcast_ss(xs + m * x.blocks + b);
      low[m] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(a[m]), _mm256_mul_ps(s0, s), low[m]);
      high[m] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(c[m]), _mm256_mul_ps(s1, s), high[m]);
    }
  }
  EACH_ROW {
    _mm256_storeu_ps(out + m * ldo, low[m]);
    _mm256_storeu_ps(out + m * ldo + 8, high[m]);
  }
}

template <bool Q8> void gemm(const uint8_t* group, const QuantRows& x, int64_t first, int64_t count, float* out, int64_t ldo) {
  int64_t i = 0;
  for (; i + kRows <= count; i += kRows) tile<Q8, kRows>(group, x, first + i, out + i * ldo, ldo);
  for (; i + 2 <= count; i += 2) tile<Q8, 2>(group, x, first + i, out + i * ldo, ldo);
  if (i < count) streams<Q8, 1>(group, x, first + i, out + i * ldo);
}

inline float sum8(__m256 v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
inline __m256 wide_bf16(const uint16_t* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
}

// A stored kind: how eight values and one become f32.
struct Float {
  using Value = float;
  static __m256 load8(const float* p) { return _mm256_loadu_ps(p); }
  static float load1(float x) { return x; }
};
struct Half {
  using Value = uint16_t;
  static __m256 load8(const uint16_t* p) { return scales8(p); }
  static float load1(uint16_t h) { return f16_to_f32(h); }
};
struct Brain {
  using Value = uint16_t;
  static __m256 load8(const uint16_t* p) { return wide_bf16(p); }
  static float load1(uint16_t h) { return bf16_to_f32(h); }
};

template <class Kept> float dot(const typename Kept::Value* w, const float* x, int64_t cols) {
  __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 32 <= cols; i += 32) {
    _mm_prefetch(reinterpret_cast<const char*>(w + i) + 1024, _MM_HINT_T0);
    a = _mm256_fmadd_ps(Kept::load8(w + i), _mm256_loadu_ps(x + i), a);
    b = _mm256_fmadd_ps(Kept::load8(w + i + 8), _mm256_loadu_ps(x + i + 8), b);
    c = _mm256_fmadd_ps(Kept::load8(w + i + 16), _mm256_loadu_ps(x + i + 16), c);
    d = _mm256_fmadd_ps(Kept::load8(w + i + 24), _mm256_loadu_ps(x + i + 24), d);
  }
  float sum = sum8(_mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)));
  for (; i < cols; i++) sum += Kept::load1(w[i]) * x[i];
  return sum;
}
// Four streams, see `streams`.
template <class Kept> void dot4(const typename Kept::Value* w, int64_t apart, const float* x, int64_t cols, float* out) {
  __m256 a[4], b[4];
  #pragma GCC unroll 4
  for (int r = 0; r < 4; r++) a[r] = b[r] = _mm256_setzero_ps();
  int64_t i = 0;
  for (; i + 16 <= cols; i += 16) {
    const __m256 x0 = _mm256_loadu_ps(x + i), x1 = _mm256_loadu_ps(x + i + 8);
    #pragma GCC unroll 4
    for (int r = 0; r < 4; r++) {
      a[r] = _mm256_fmadd_ps(Kept::load8(w + r * apart + i), x0, a[r]);
      b[r] = _mm256_fmadd_ps(Kept::load8(w + r * apart + i + 8), x1, b[r]);
    }
  }
  #pragma GCC unroll 4
  for (int r = 0; r < 4; r++) {
    float sum = sum8(_mm256_add_ps(a[r], b[r]));
    for (int64_t c = i; c < cols; c++) sum += Kept::load1(w[r * apart + c]) * x[c];
    out[r] = sum;
  }
}

void widen(Kind kind, const void* from, float* to, int64_t n) {
  if (kind != Kind::F16) return body_widen(kind, from, to, n);
  const uint16_t* h = static_cast<const uint16_t*>(from);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, scales8(h + i));
  for (; i < n; i++) to[i] = f16_to_f32(h[i]);
}
void to_f16(const float* from, uint16_t* to, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) to[i] = f32_to_f16(from[i]);
}

// Eight rows of eight columns, turned: panel[c * 16 + r].
template <class Row> inline void turn8(Row row, float* panel) {
  const __m256 r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3), r4 = row(4), r5 = row(5), r6 = row(6), r7 = row(7);
  const __m256 a0 = _mm256_unpacklo_ps(r0, r1), a1 = _mm256_unpackhi_ps(r0, r1), a2 = _mm256_unpacklo_ps(r2, r3), a3 = _mm256_unpackhi_ps(r2, r3);
  const __m256 a4 = _mm256_unpacklo_ps(r4, r5), a5 = _mm256_unpackhi_ps(r4, r5), a6 = _mm256_unpacklo_ps(r6, r7), a7 = _mm256_unpackhi_ps(r6, r7);
  const __m256 b0 = _mm256_shuffle_ps(a0, a2, 0x44), b1 = _mm256_shuffle_ps(a0, a2, 0xee), b2 = _mm256_shuffle_ps(a1, a3, 0x44), b3 = _mm256_shuffle_ps(a1, a3, 0xee);
  const __m256 b4 = _mm256_shuffle_ps(a4, a6, 0x44), b5 = _mm256_shuffle_ps(a4, a6, 0xee), b6 = _mm256_shuffle_ps(a5, a7, 0x44), b7 = _mm256_shuffle_ps(a5, a7, 0xee);
  _mm256_storeu_ps(panel, _mm256_permute2f128_ps(b0, b4, 0x20));
  _mm256_storeu_ps(panel + 16, _mm256_permute2f128_ps(b1, b5, 0x20));
  _mm256_storeu_ps(panel + 32, _mm256_permute2f128_ps(b2, b6, 0x20));
  _mm256_storeu_ps(panel + 48, _mm256_permute2f128_ps(b3, b7, 0x20));
  _mm256_storeu_ps(panel + 64, _mm256_permute2f128_ps(b0, b4, 0x31));
  _mm256_storeu_ps(panel + 80, _mm256_permute2f128_ps(b1, b5, 0x31));
  _mm256_storeu_ps(panel + 96, _mm256_permute2f128_ps(b2, b6, 0x31));
  _mm256_storeu_ps(panel + 112, _mm256_permute2f128_ps(b3, b7, 0x31));
}
template <class Value, class Load> void pack_rows(Load load, Kind kind, const Value* w, int64_t ldw, int64_t rows, int64_t count, float* panel) {
  const int64_t whole = rows == kGroup ? count / 8 * 8 : 0;
  for (int64_t k = 0; k < whole; k += 8)
    for (int64_t half = 0; half < kGroup; half += 8)
      turn8([&](int64_t r) { return load(w + (half + r) * ldw + k); }, panel + k * kGroup + half);
  if (whole < count) pack_with(widen, kind, w + whole, ldw, rows, count - whole, panel + whole * kGroup);
}
void pack(Kind kind, const void* w, int64_t ldw, int64_t rows, int64_t count, float* panel) {
  const uint16_t* half = static_cast<const uint16_t*>(w);
  if (kind == Kind::F32) pack_rows([](const float* p) { return _mm256_loadu_ps(p); }, kind, static_cast<const float*>(w), ldw, rows, count, panel);
  else if (kind == Kind::BF16) pack_rows([](const uint16_t* p) { return wide_bf16(p); }, kind, half, ldw, rows, count, panel);
  else pack_rows([](const uint16_t* p) { return scales8(p); }, kind, half, ldw, rows, count, panel);
}

template <int M> void tile_f32(const float* panel, int64_t ldp, int64_t k, const float* x, int64_t ldx, float* out, int64_t ldo, bool first) {
  __m256 low[M], high[M];
  EACH_ROW low[m] = high[m] = _mm256_setzero_ps();
  for (int64_t c = 0; c < k; c++) {
    const __m256 w0 = _mm256_loadu_ps(panel + c * ldp), w1 = _mm256_loadu_ps(panel + c * ldp + 8);
    EACH_ROW {
      const __m256 a = _mm256_broadcast_ss(x + m * ldx + c);
      low[m] = _mm256_fmadd_ps(a, w0, low[m]);
      high[m] = _mm256_fmadd_ps(a, w1, high[m]);
    }
  }
  EACH_ROW {
    if (!first) {
      low[m] = _mm256_add_ps(_mm256_loadu_ps(out + m * ldo), low[m]);
      high[m] = _mm256_add_ps(_mm256_loadu_ps(out + m * ldo + 8), high[m]);
    }
    _mm256_storeu_ps(out + m * ldo, low[m]);
    _mm256_storeu_ps(out + m * ldo + 8, high[m]);
  }
}
void gemm_f32(const float* panel, int64_t ldp, int64_t k, const float* x, int64_t ldx, int64_t rows, float* out, int64_t ldo, bool first) {
  int64_t i = 0;
  for (; i + 6 <= rows; i += 6) tile_f32<6>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first);
  switch (rows - i) {
    case 5: tile_f32<5>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    case 4: tile_f32<4>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    case 3: tile_f32<3>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    case 2: tile_f32<2>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    case 1: tile_f32<1>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    default: break;
  }
}

}  // namespace

#include "attend_256.h"

namespace {

Kernels table_of(const char* name) {
  Kernels k = body_table(name);
  k.gemv_q8 = gemv<true>;
  k.gemv_q4 = gemv<false>;
  k.gemm_q8 = gemm<true>;
  k.gemm_q4 = gemm<false>;
  k.dot_f32 = dot<Float>;
  k.dot_f16 = dot<Half>;
  k.dot_bf16 = dot<Brain>;
  k.dot4_f32 = dot4<Float>;
  k.dot4_f16 = dot4<Half>;
  k.dot4_bf16 = dot4<Brain>;
  k.widen = widen;
  k.to_f16 = to_f16;
  k.pack = pack;
  k.gemm_f32 = gemm_f32;
  k.scores = scores;
  k.mix = mix;
  return k;
}

}  // namespace
