// AVX2 + FMA + F16C. Decode: maddubs on 32-byte chunks (8 rows x 4 columns). Prefill: a group is widened once to an
// int16 panel that stays in the first cache, and pmaddwd multiplies it with six rows of activations at a time.
#if defined(__AVX2__)
#include <immintrin.h>

#include "body.h"

namespace {

inline void ahead(const uint8_t* p, int lines) {
  for (int i = 0; i < lines; i++) _mm_prefetch(reinterpret_cast<const char*>(p) + 2048 + 64 * i, _MM_HINT_T0);
}
inline __m256 scales8(const uint16_t* s) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s))); }
inline __m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline int word(const int8_t* p) { int v; std::memcpy(&v, p, 4); return v; }

void gemv_q8(const uint8_t* group, const QuantRows& x, int64_t row, float* out) {
  const __m256i one = _mm256_set1_epi16(1);
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + 512 * size_t(x.blocks));
  const int8_t* q = x.q + row * x.blocks * kBlock;
  const float* xs = x.scale + row * x.blocks;
  __m256 low = _mm256_setzero_ps(), high = low;
  for (int64_t b = 0; b < x.blocks; b++, group += 512, q += kBlock, scales += kGroup) {
    ahead(group, 8);
    __m256i a = _mm256_setzero_si256(), c = a;
    #pragma GCC unroll 8
    for (int j = 0; j < 8; j++) {
      const __m256i v = _mm256_set1_epi32(word(q + 4 * j));
      const __m256i w0 = load(group + j * 64), w1 = load(group + j * 64 + 32);
      a = _mm256_add_epi32(a, _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(w0), _mm256_sign_epi8(v, w0)), one));
      c = _mm256_add_epi32(c, _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(w1), _mm256_sign_epi8(v, w1)), one));
    }
    const __m256 s = _mm256_broadcast_ss(xs + b);
    low = _mm256_fmadd_ps(_mm256_cvtepi32_ps(a), _mm256_mul_ps(scales8(scales), s), low);
    high = _mm256_fmadd_ps(_mm256_cvtepi32_ps(c), _mm256_mul_ps(scales8(scales + 8), s), high);
  }
  _mm256_storeu_ps(out, low);
  _mm256_storeu_ps(out + 8, high);
}

void gemv_q4(const uint8_t* group, const QuantRows& x, int64_t row, float* out) {
  const __m256i one = _mm256_set1_epi16(1), nibble = _mm256_set1_epi8(15);
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + 256 * size_t(x.blocks));
  const int8_t* q = x.q + row * x.blocks * kBlock;
  const float* xs = x.scale + row * x.blocks;
  const int32_t* sums = x.sum + row * x.blocks;
  __m256 low = _mm256_setzero_ps(), high = low;
  for (int64_t b = 0; b < x.blocks; b++, group += 256, q += kBlock, scales += kGroup) {
    ahead(group, 4);
    // 15 * 127 * 2 = 3810 a product pair; eight of them fit into int16
    __m256i a = _mm256_setzero_si256(), c = a;
    #pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      const __m256i v0 = _mm256_set1_epi32(word(q + 4 * j)), v1 = _mm256_set1_epi32(word(q + 16 + 4 * j));
      const __m256i w0 = load(group + j * 64), w1 = load(group + j * 64 + 32);
      a = _mm256_add_epi16(a, _mm256_maddubs_epi16(_mm256_and_si256(w0, nibble), v0));
      c = _mm256_add_epi16(c, _mm256_maddubs_epi16(_mm256_and_si256(w1, nibble), v0));
      a = _mm256_add_epi16(a, _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(w0, 4), nibble), v1));
      c = _mm256_add_epi16(c, _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(w1, 4), nibble), v1));
    }
    const __m256i off = _mm256_set1_epi32(8 * sums[b]);
    const __m256 s = _mm256_broadcast_ss(xs + b);
    const __m256 fa = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_madd_epi16(a, one), off));
    const __m256 fc = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_madd_epi16(c, one), off));
    low = _mm256_fmadd_ps(fa, _mm256_mul_ps(scales8(scales), s), low);
    high = _mm256_fmadd_ps(fc, _mm256_mul_ps(scales8(scales + 8), s), high);
  }
  _mm256_storeu_ps(out, low);
  _mm256_storeu_ps(out + 8, high);
}

// The panel: for each pair of columns 16 rows x 2 int16 (64 bytes).
template <bool Q8> void unpack(const uint8_t* codes, int64_t blocks, int16_t* panel) {
  const __m128i nibble = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
  for (int64_t b = 0; b < blocks; b++) {
    for (int j = 0; j < 8; j++, panel += 64) {
      // a chunk: 16 rows x 4 columns; out: columns 0,1 of 16 rows, then columns 2,3
      for (int part = 0; part < 4; part++) {  // four rows of four columns
        __m128i v;
        if (Q8) v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + j * 64 + part * 16));
        else {
          v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + (j % 4) * 64 + part * 16));
          v = _mm_sub_epi8(_mm_and_si128(j < 4 ? v : _mm_srli_epi16(v, 4), nibble), eight);
        }
        __m256i w = _mm256_cvtepi8_epi16(v);  // row0 c0..c3, row1 c0..c3 | row2, row3
        // 32-bit lanes: r0p0 r0p1 r1p0 r1p1 | r2p0 r2p1 r3p0 r3p1 -> p0 of rows 0..3 | p1 of rows 0..3
        w = _mm256_permutevar8x32_epi32(w, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
        _mm_store_si128(reinterpret_cast<__m128i*>(panel + part * 8), _mm256_castsi256_si128(w));
        _mm_store_si128(reinterpret_cast<__m128i*>(panel + 32 + part * 8), _mm256_extracti128_si256(w, 1));
      }
    }
    codes += Q8 ? 512 : 256;
  }
}

template <int M>
void panel_tile(const int16_t* panel, const float* scales, int64_t blocks, const int16_t* q16, const float* xs, int64_t stride, float* out, int64_t ldo, bool first) {
  __m256 low[M], high[M];
  for (int m = 0; m < M; m++) {
    low[m] = first ? _mm256_setzero_ps() : _mm256_loadu_ps(out + m * ldo);
    high[m] = first ? _mm256_setzero_ps() : _mm256_loadu_ps(out + m * ldo + 8);
  }
  for (int64_t b = 0; b < blocks; b++) {
    __m256i a[M], c[M];
    for (int m = 0; m < M; m++) a[m] = c[m] = _mm256_setzero_si256();
    const int16_t* x = q16 + b * kBlock;
    #pragma GCC unroll 4
    for (int j = 0; j < 16; j++, panel += 32) {
      const __m256i w0 = _mm256_load_si256(reinterpret_cast<const __m256i*>(panel));
      const __m256i w1 = _mm256_load_si256(reinterpret_cast<const __m256i*>(panel + 16));
      #pragma GCC unroll 6
      for (int m = 0; m < M; m++) {
        int pair;
        std::memcpy(&pair, x + m * stride * kBlock + 2 * j, 4);
        const __m256i v = _mm256_set1_epi32(pair);
        a[m] = _mm256_add_epi32(a[m], _mm256_madd_epi16(w0, v));
        c[m] = _mm256_add_epi32(c[m], _mm256_madd_epi16(w1, v));
      }
    }
    const __m256 s0 = _mm256_load_ps(scales + b * kGroup), s1 = _mm256_load_ps(scales + b * kGroup + 8);
    for (int m = 0; m < M; m++) {
      const __m256 s = _mm256_broadcast_ss(xs + m * stride + b);
      low[m] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(a[m]), _mm256_mul_ps(s0, s), low[m]);
      high[m] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(c[m]), _mm256_mul_ps(s1, s), high[m]);
    }
  }
  for (int m = 0; m < M; m++) {
    _mm256_storeu_ps(out + m * ldo, low[m]);
    _mm256_storeu_ps(out + m * ldo + 8, high[m]);
  }
}

template <bool Q8>
void gemm(const uint8_t* group, const QuantRows& x, int64_t first, int64_t count, float* out, int64_t ldo, void* scratch) {
  int16_t* panel = static_cast<int16_t*>(scratch);
  float* scales = reinterpret_cast<float*>(panel + kGroup * kPanelColumns);
  const size_t stride = Q8 ? 512 : 256;
  const uint16_t* stored = reinterpret_cast<const uint16_t*>(group + stride * size_t(x.blocks));
  constexpr int64_t most = kPanelColumns / kBlock;
  for (int64_t b = 0; b < x.blocks; b += most) {
    const int64_t n = std::min(most, x.blocks - b);
    unpack<Q8>(group + stride * size_t(b), n, panel);
    for (int64_t i = 0; i < n * 2; i++) _mm256_store_ps(scales + i * 8, scales8(stored + b * kGroup + i * 8));
    const int16_t* q = x.q16 + (first * x.blocks + b) * kBlock;
    const float* xs = x.scale + first * x.blocks + b;
    int64_t i = 0;
    auto at = [&](auto tile, int64_t rows) {
      tile(panel, scales, n, q + i * x.blocks * kBlock, xs + i * x.blocks, x.blocks, out + i * ldo, ldo, b == 0);
      i += rows;
    };
    while (i + 6 <= count) at(panel_tile<6>, 6);
    switch (count - i) {
      case 5: at(panel_tile<5>, 5); break;
      case 4: at(panel_tile<4>, 4); break;
      case 3: at(panel_tile<3>, 3); break;
      case 2: at(panel_tile<2>, 2); break;
      case 1: at(panel_tile<1>, 1); break;
      default: break;
    }
  }
}

inline float sum8(__m256 v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
inline __m256 wide_bf16(const uint16_t* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
}

template <class Load, class Tail> float dot(Load load8, Tail tail, const float* x, int64_t cols, const void* w, size_t size) {
  __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 32 <= cols; i += 32) {
    _mm_prefetch(static_cast<const char*>(w) + size_t(i) * size + 2048, _MM_HINT_T0);
    a = _mm256_fmadd_ps(load8(i), _mm256_loadu_ps(x + i), a);
    b = _mm256_fmadd_ps(load8(i + 8), _mm256_loadu_ps(x + i + 8), b);
    c = _mm256_fmadd_ps(load8(i + 16), _mm256_loadu_ps(x + i + 16), c);
    d = _mm256_fmadd_ps(load8(i + 24), _mm256_loadu_ps(x + i + 24), d);
  }
  float sum = sum8(_mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)));
  for (; i < cols; i++) sum += tail(i) * x[i];
  return sum;
}
float dot_f32(const float* w, const float* x, int64_t cols) {
  return dot([w](int64_t i) { return _mm256_loadu_ps(w + i); }, [w](int64_t i) { return w[i]; }, x, cols, w, 4);
}
float dot_bf16(const uint16_t* w, const float* x, int64_t cols) {
  return dot([w](int64_t i) { return wide_bf16(w + i); }, [w](int64_t i) { return bf16_to_f32(w[i]); }, x, cols, w, 2);
}
float dot_f16(const uint16_t* w, const float* x, int64_t cols) {
  return dot([w](int64_t i) { return scales8(w + i); }, [w](int64_t i) { return f16_to_f32(w[i]); }, x, cols, w, 2);
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
void pack(Kind kind, const void* w, int64_t ldw, int64_t rows, int64_t count, float* panel) {
  pack_with(widen, kind, w, ldw, rows, count, panel);
}

template <int M> void tile_f32(const float* panel, int64_t k, const float* x, int64_t ldx, float* out, int64_t ldo, bool first) {
  __m256 low[M], high[M];
  for (int m = 0; m < M; m++) {
    low[m] = first ? _mm256_setzero_ps() : _mm256_loadu_ps(out + m * ldo);
    high[m] = first ? _mm256_setzero_ps() : _mm256_loadu_ps(out + m * ldo + 8);
  }
  for (int64_t c = 0; c < k; c++) {
    const __m256 w0 = _mm256_loadu_ps(panel + c * kGroup), w1 = _mm256_loadu_ps(panel + c * kGroup + 8);
    #pragma GCC unroll 6
    for (int m = 0; m < M; m++) {
      const __m256 a = _mm256_broadcast_ss(x + m * ldx + c);
      low[m] = _mm256_fmadd_ps(a, w0, low[m]);
      high[m] = _mm256_fmadd_ps(a, w1, high[m]);
    }
  }
  for (int m = 0; m < M; m++) {
    _mm256_storeu_ps(out + m * ldo, low[m]);
    _mm256_storeu_ps(out + m * ldo + 8, high[m]);
  }
}
void gemm_f32(const float* panel, int64_t k, const float* x, int64_t ldx, int64_t rows, float* out, int64_t ldo, bool first) {
  int64_t i = 0;
  for (; i + 6 <= rows; i += 6) tile_f32<6>(panel, k, x + i * ldx, ldx, out + i * ldo, ldo, first);
  switch (rows - i) {
    case 5: tile_f32<5>(panel, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    case 4: tile_f32<4>(panel, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    case 3: tile_f32<3>(panel, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    case 2: tile_f32<2>(panel, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    case 1: tile_f32<1>(panel, k, x + i * ldx, ldx, out + i * ldo, ldo, first); break;
    default: break;
  }
}

}  // namespace

namespace kvad {
const Kernels* kernels_avx2() {
  static const Kernels table = [] {
    Kernels k = body_table("avx2");
    k.gemv_q8 = gemv_q8;
    k.gemv_q4 = gemv_q4;
    k.gemm_q8 = gemm<true>;
    k.gemm_q4 = gemm<false>;
    k.dot_f32 = dot_f32;
    k.dot_f16 = dot_f16;
    k.dot_bf16 = dot_bf16;
    k.widen = widen;
    k.to_f16 = to_f16;
    k.pack = pack;
    k.gemm_f32 = gemm_f32;
    return k;
  }();
  return &table;
}
}  // namespace kvad
#else
#include "kernels.h"
namespace kvad {
const Kernels* kernels_avx2() { return nullptr; }
}
#endif
