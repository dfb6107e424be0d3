// Attention of few queries with 256-bit registers: keys and values are read as they are stored, each once for all queries
// of a block. Included by kernels_256.h.
#pragma once

namespace {

// Four rows of sums to one register of four sums.
inline __m128 sums4(__m256 a, __m256 b, __m256 c, __m256 d) {
  const __m256 s = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
  return _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
}

// Cached rows lie far apart, where no stream leads.
template <class Value> inline void nearer(const Value* row, int64_t dim) {
  for (int64_t d = 0; d < dim; d += int64_t(64 / sizeof(Value))) _mm_prefetch(reinterpret_cast<const char*>(row + d), _MM_HINT_T0);
}
constexpr int64_t kNearer = 12;  // rows ahead

template <class Kept, int M, class Value = typename Kept::Value>
void scores_rows(const Value* keys, int64_t stride, int64_t count, int64_t dim, const float* q, float* out, int64_t ldo) {
  const int64_t whole = dim / 8 * 8;
  const auto rest = [&](int m, const Value* key) {
    float sum = 0;
    for (int64_t d = whole; d < dim; d++) sum += Kept::load1(key[d]) * q[m * dim + d];
    return sum;
  };
  int64_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const Value *k0 = keys + j * stride, *k1 = k0 + stride, *k2 = k1 + stride, *k3 = k2 + stride;
    for (int64_t r = 0; r < 4; r++) nearer(k0 + (kNearer + r) * stride, dim);
    __m256 a[M], b[M], c[M], e[M];
    EACH_ROW a[m] = b[m] = c[m] = e[m] = _mm256_setzero_ps();
    for (int64_t d = 0; d < whole; d += 8) {
      // one row of keys after the other: 4 M sums, M queries and a row are all the registers for M = 3
      __m256 x[M];
      EACH_ROW x[m] = _mm256_loadu_ps(q + m * dim + d);
      const __m256 w0 = Kept::load8(k0 + d);
      EACH_ROW a[m] = _mm256_fmadd_ps(w0, x[m], a[m]);
      const __m256 w1 = Kept::load8(k1 + d);
      EACH_ROW b[m] = _mm256_fmadd_ps(w1, x[m], b[m]);
      const __m256 w2 = Kept::load8(k2 + d);
      EACH_ROW c[m] = _mm256_fmadd_ps(w2, x[m], c[m]);
      const __m256 w3 = Kept::load8(k3 + d);
      EACH_ROW e[m] = _mm256_fmadd_ps(w3, x[m], e[m]);
    }
    EACH_ROW {
      __m128 s = sums4(a[m], b[m], c[m], e[m]);
      if (whole < dim) s = _mm_add_ps(s, _mm_setr_ps(rest(m, k0), rest(m, k1), rest(m, k2), rest(m, k3)));
      _mm_storeu_ps(out + m * ldo + j, s);
    }
  }
  for (; j < count; j++) {
    const Value* key = keys + j * stride;
    __m256 a[M];
    EACH_ROW a[m] = _mm256_setzero_ps();
    for (int64_t d = 0; d < whole; d += 8) {
      const __m256 w = Kept::load8(key + d);
      EACH_ROW a[m] = _mm256_fmadd_ps(w, _mm256_loadu_ps(q + m * dim + d), a[m]);
    }
    EACH_ROW out[m * ldo + j] = sum8(a[m]) + rest(m, key);
  }
}

template <class Kept, int M, class Value = typename Kept::Value>
void mix_rows(const Value* values, int64_t stride, int64_t count, int64_t dim, const float* p, int64_t ldp, float* acc, int64_t lda) {
  int64_t d = 0;
  for (; d + 32 <= dim; d += 32) {
    __m256 a[M], b[M], c[M], e[M];
    EACH_ROW {
      const float* at = acc + m * lda + d;
      a[m] = _mm256_loadu_ps(at), b[m] = _mm256_loadu_ps(at + 8), c[m] = _mm256_loadu_ps(at + 16), e[m] = _mm256_loadu_ps(at + 24);
    }
    for (int64_t j = 0; j < count; j++) {
      const Value* v = values + j * stride + d;
      if (d == 0) nearer(v + kNearer * stride, dim);
      __m256 w[M];
      EACH_ROW w[m] = _mm256_broadcast_ss(p + m * ldp + j);
      const __m256 v0 = Kept::load8(v);
      EACH_ROW a[m] = _mm256_fmadd_ps(w[m], v0, a[m]);
      const __m256 v1 = Kept::load8(v + 8);
      EACH_ROW b[m] = _mm256_fmadd_ps(w[m], v1, b[m]);
      const __m256 v2 = Kept::load8(v + 16);
      EACH_ROW c[m] = _mm256_fmadd_ps(w[m], v2, c[m]);
      const __m256 v3 = Kept::load8(v + 24);
      EACH_ROW e[m] = _mm256_fmadd_ps(w[m], v3, e[m]);
    }
    EACH_ROW {
      float* at = acc + m * lda + d;
      _mm256_storeu_ps(at, a[m]), _mm256_storeu_ps(at + 8, b[m]), _mm256_storeu_ps(at + 16, c[m]), _mm256_storeu_ps(at + 24, e[m]);
    }
  }
  for (; d + 8 <= dim; d += 8) {
    __m256 a[M];
    EACH_ROW a[m] = _mm256_loadu_ps(acc + m * lda + d);
    for (int64_t j = 0; j < count; j++) {
      const __m256 v = Kept::load8(values + j * stride + d);
      EACH_ROW a[m] = _mm256_fmadd_ps(_mm256_broadcast_ss(p + m * ldp + j), v, a[m]);
    }
    EACH_ROW _mm256_storeu_ps(acc + m * lda + d, a[m]);
  }
  for (; d < dim; d++)
    for (int64_t j = 0; j < count; j++) {
      const float v = Kept::load1(values[j * stride + d]);
      EACH_ROW acc[m * lda + d] += p[m * ldp + j] * v;
    }
}

// Blocks of at most three queries, so that all sums stay in registers: body(first, number as a type).
template <int M> struct Rows { static constexpr int value = M; };
template <class Body> void each_block(int64_t queries, const Body& body) {
  int64_t i = 0;
  for (int64_t left = queries; left > 0; left = queries - i) {
    if (left == 1) body(i, Rows<1>()), i += 1;
    else if (left == 2 || left == 4) body(i, Rows<2>()), i += 2;
    else body(i, Rows<3>()), i += 3;
  }
}

void scores(Kind kind, const void* keys, int64_t stride, int64_t count, int64_t dim, const float* q, int64_t queries, float* out, int64_t ldo) {
  each_block(queries, [&](int64_t i, auto rows) {
    constexpr int M = decltype(rows)::value;
    if (kind == Kind::F32)
      scores_rows<Float, M>(static_cast<const float*>(keys), stride, count, dim, q + i * dim, out + i * ldo, ldo);
    else
      scores_rows<Half, M>(static_cast<const uint16_t*>(keys), stride, count, dim, q + i * dim, out + i * ldo, ldo);
  });
}

void mix(Kind kind, const void* values, int64_t stride, int64_t count, int64_t dim, const float* p, int64_t ldp, int64_t queries, float* acc, int64_t lda) {
  each_block(queries, [&](int64_t i, auto rows) {
    constexpr int M = decltype(rows)::value;
    if (kind == Kind::F32)
      mix_rows<Float, M>(static_cast<const float*>(values), stride, count, dim, p + i * ldp, ldp, acc + i * lda, lda);
    else
      mix_rows<Half, M>(static_cast<const uint16_t*>(values), stride, count, dim, p + i * ldp, ldp, acc + i * lda, lda);
  });
}

}  // namespace
