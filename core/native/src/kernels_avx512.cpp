// AVX-512 with VNNI. One 64-byte chunk (16 rows x 4 columns) is one register: vpdpbusd multiplies unsigned by signed
// bytes, so the weights are the unsigned side: int8 + 128 by xor 0x80, and nibbles, which are 8 too large, in the upper
// half of their byte. Both are 128 too large then, and what that adds is known (`over`); the 16 that nibbles have too
// much goes into the scale, exactly.
#if defined(__AVX512VNNI__)
#include <immintrin.h>

#include "body.h"

namespace {

inline void ahead(const uint8_t* p, int lines) {
  for (int i = 0; i < lines; i++) _mm_prefetch(reinterpret_cast<const char*>(p) + 4096 + 64 * i, _MM_HINT_T0);
}
inline __m512 scales16(const uint16_t* s) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(s))); }
inline int word(const int8_t* p) { int v; std::memcpy(&v, p, 4); return v; }
inline __m512i flip(const uint8_t* p) { return _mm512_xor_si512(_mm512_loadu_si512(p), _mm512_set1_epi8(char(0x80))); }

// The 8 chunks of a block as unsigned bytes.
template <bool Q8> inline __m512i chunk(const uint8_t* block, int j) {
  if (Q8) return flip(block + j * 64);
  const __m512i v = _mm512_loadu_si512(block + (j % 4) * 64);
  return _mm512_and_si512(j < 4 ? _mm512_slli_epi16(v, 4) : v, _mm512_set1_epi8(char(0xf0)));
}

// The scales of a block.
template <bool Q8> inline __m512 scales_of(const uint16_t* s) {
  return Q8 ? scales16(s) : _mm512_mul_ps(scales16(s), _mm512_set1_ps(0.0625f));
}

template <bool Q8> void gemv(const uint8_t* group, const QuantRows& x, int64_t row, float* out) {
  constexpr int stride = Q8 ? 512 : 256;
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + size_t(stride) * size_t(x.blocks));
  const int8_t* q = x.q + row * x.blocks * kBlock;
  const float* xs = x.scale + row * x.blocks;
  const int32_t* over = x.over + row * x.blocks;
  // the scales of the group that follows: they lie behind its codes, where no stream leads
  const char* next = reinterpret_cast<const char*>(scales) + group_bytes(Q8 ? Kind::Q8 : Kind::Q4, x.blocks);
  __m512 acc = _mm512_setzero_ps();
  for (int64_t b = 0; b < x.blocks; b++, group += stride, q += kBlock, scales += kGroup) {
    ahead(group, stride / 64);
    _mm_prefetch(next + b * 32, _MM_HINT_T0);
    __m512i a = _mm512_set1_epi32(over[b]), c = _mm512_setzero_si512();
    #pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
      a = _mm512_dpbusd_epi32(a, chunk<Q8>(group, j), _mm512_set1_epi32(word(q + 4 * j)));
      c = _mm512_dpbusd_epi32(c, chunk<Q8>(group, j + 4), _mm512_set1_epi32(word(q + 16 + 4 * j)));
    }
    const __m512 s = _mm512_mul_ps(scales_of<Q8>(scales), _mm512_set1_ps(xs[b]));
    acc = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_add_epi32(a, c)), s, acc);
  }
  _mm512_storeu_ps(out, acc);
}

// Loops over m are unrolled by force, and each sum ends where it stands, see kernels_256.h.
#define EACH_ROW _Pragma("GCC unroll 12") for (int m = 0; m < M; m++)
#if defined(KVAD_SPELLED)
inline void settle(__m512i&) {}
template <class T> inline void keep(T&) {}
#else
inline void settle(__m512i& a) { asm("" : "+v"(a)); }
// A value that the compiler knows nothing about from here on.
template <class T> inline void keep(T& pointer) { asm("" : "+r"(pointer)); }
#endif

// M rows `apart`, addressed from every third: an address for each row is more than there are registers.
template <class T, int M> struct Rows {
  static constexpr int kBases = (M + 2) / 3;
  const T* base[kBases];
  int64_t apart;
  Rows(const T* first, int64_t apart) : apart(apart) {
    for (int i = 0; i < kBases; i++) base[i] = first + 3 * i * apart;
  }
  const T* row(int m) const { return base[m / 3] + m % 3 * apart; }
  void advance(int64_t n) {
    for (int i = 0; i < kBases; i++) keep(base[i] += n);
  }
};

// M rows of activations pass over one group; the chunks of a block are unpacked once for all of them.
template <bool Q8, int M> void tile(const uint8_t* group, const QuantRows& x, int64_t first, float* out, int64_t ldo) {
  constexpr int stride = Q8 ? 512 : 256;
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + size_t(stride) * size_t(x.blocks));
  Rows<int8_t, M> q(x.q + first * x.blocks * kBlock, x.blocks * kBlock);
  Rows<float, M> xs(x.scale + first * x.blocks, x.blocks);
  Rows<int32_t, M> over(x.over + first * x.blocks, x.blocks);
  __m512 acc[M];
  EACH_ROW acc[m] = _mm512_setzero_ps();
  for (int64_t b = 0; b < x.blocks; b++, group += stride, scales += kGroup) {
    __m512i a[M];
    EACH_ROW a[m] = _mm512_set1_epi32(*over.row(m));
    #pragma GCC unroll 8
    for (int j = 0; j < 8; j++) {
      const __m512i w = chunk<Q8>(group, j);
      EACH_ROW {
        a[m] = _mm512_dpbusd_epi32(a[m], w, _mm512_set1_epi32(word(q.row(m) + 4 * j)));
        settle(a[m]);
      }
    }
    const __m512 s = scales_of<Q8>(scales);
    EACH_ROW acc[m] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(a[m]), _mm512_mul_ps(s, _mm512_set1_ps(*xs.row(m))), acc[m]);
    q.advance(kBlock);
    xs.advance(1);
    over.advance(1);
  }
  EACH_ROW _mm512_storeu_ps(out + m * ldo, acc[m]);
}

template <bool Q8>
void gemm(const uint8_t* group, const QuantRows& x, int64_t first, int64_t count, float* out, int64_t ldo) {
  int64_t i = 0;
  for (; i + 12 <= count; i += 12) tile<Q8, 12>(group, x, first + i, out + i * ldo, ldo);
  for (; i + 4 <= count; i += 4) tile<Q8, 4>(group, x, first + i, out + i * ldo, ldo);
  for (; i + 2 <= count; i += 2) tile<Q8, 2>(group, x, first + i, out + i * ldo, ldo);
  for (; i < count; i++) tile<Q8, 1>(group, x, first + i, out + i * ldo, ldo);
}

inline __m512 wide_bf16(const uint16_t* p) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16));
}
template <class Load, class Tail> float dot(Load load16, Tail tail, const float* x, int64_t cols, const void* w, size_t size) {
  __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 64 <= cols; i += 64) {
    for (size_t line = 0; line < size; line++) _mm_prefetch(static_cast<const char*>(w) + size_t(i) * size + 4096 + 64 * line, _MM_HINT_T0);
    a = _mm512_fmadd_ps(load16(i), _mm512_loadu_ps(x + i), a);
    b = _mm512_fmadd_ps(load16(i + 16), _mm512_loadu_ps(x + i + 16), b);
    c = _mm512_fmadd_ps(load16(i + 32), _mm512_loadu_ps(x + i + 32), c);
    d = _mm512_fmadd_ps(load16(i + 48), _mm512_loadu_ps(x + i + 48), d);
  }
  for (; i + 16 <= cols; i += 16) a = _mm512_fmadd_ps(load16(i), _mm512_loadu_ps(x + i), a);
  float sum = _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
  for (; i < cols; i++) sum += tail(i) * x[i];
  return sum;
}
float dot_f32(const float* w, const float* x, int64_t cols) {
  return dot([w](int64_t i) { return _mm512_loadu_ps(w + i); }, [w](int64_t i) { return w[i]; }, x, cols, w, 4);
}
float dot_bf16(const uint16_t* w, const float* x, int64_t cols) {
  return dot([w](int64_t i) { return wide_bf16(w + i); }, [w](int64_t i) { return bf16_to_f32(w[i]); }, x, cols, w, 2);
}
float dot_f16(const uint16_t* w, const float* x, int64_t cols) {
  return dot([w](int64_t i) { return scales16(w + i); }, [w](int64_t i) { return f16_to_f32(w[i]); }, x, cols, w, 2);
}

void widen(Kind kind, const void* from, float* to, int64_t n) {
  if (kind != Kind::F16) return body_widen(kind, from, to, n);
  const uint16_t* h = static_cast<const uint16_t*>(from);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(to + i, scales16(h + i));
  for (; i < n; i++) to[i] = f16_to_f32(h[i]);
}
void to_f16(const float* from, uint16_t* to, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) to[i] = f32_to_f16(from[i]);
}
template <int M> void tile_f32(const float* panel, int64_t ldp, int64_t k, const float* x, int64_t ldx, float* out, int64_t ldo, bool first) {
  __m512 acc[M];
  for (int m = 0; m < M; m++) acc[m] = _mm512_setzero_ps();
  for (int64_t c = 0; c < k; c++) {
    const __m512 w = _mm512_loadu_ps(panel + c * ldp);
    #pragma GCC unroll 12
    for (int m = 0; m < M; m++) acc[m] = _mm512_fmadd_ps(_mm512_set1_ps(x[m * ldx + c]), w, acc[m]);
  }
  for (int m = 0; m < M; m++) {
    if (!first) acc[m] = _mm512_add_ps(_mm512_loadu_ps(out + m * ldo), acc[m]);
    _mm512_storeu_ps(out + m * ldo, acc[m]);
  }
}
void gemm_f32(const float* panel, int64_t ldp, int64_t k, const float* x, int64_t ldx, int64_t rows, float* out, int64_t ldo, bool first) {
  int64_t i = 0;
  for (; i + 12 <= rows; i += 12) tile_f32<12>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first);
  for (; i + 4 <= rows; i += 4) tile_f32<4>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first);
  for (; i < rows; i++) tile_f32<1>(panel, ldp, k, x + i * ldx, ldx, out + i * ldo, ldo, first);
}

}  // namespace

namespace kvad {
const Kernels* kernels_avx512() {
  static const Kernels table = [] {
    Kernels k = body_table("avx512");
    k.gemv_q8 = each_group<true, gemv<true>>;
    k.gemv_q4 = each_group<false, gemv<false>>;
    k.gemm_q8 = gemm<true>;
    k.gemm_q4 = gemm<false>;
    k.dot_f32 = dot_f32;
    k.dot_f16 = dot_f16;
    k.dot_bf16 = dot_bf16;
    k.dot4_f32 = each_dot<float, dot_f32>;
    k.dot4_f16 = each_dot<uint16_t, dot_f16>;
    k.dot4_bf16 = each_dot<uint16_t, dot_bf16>;
    k.widen = widen;
    k.to_f16 = to_f16;
    if (const Kernels* narrower = kernels_avx2()) {
      k.pack = narrower->pack;
      k.scores = narrower->scores;
      k.mix = narrower->mix;
    }
    k.gemm_f32 = gemm_f32;
    return k;
  }();
  return &table;
}
}  // namespace kvad
#else
#include "kernels.h"
namespace kvad {
const Kernels* kernels_avx512() { return nullptr; }
}
#endif
