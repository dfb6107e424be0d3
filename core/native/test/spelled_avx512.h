// The instructions that kernels_avx512.cpp uses, spelled out as loops: so its arithmetic is checked on machines that do
// not have them. Included in front of it in place of the compiler's header; slow, and no part of the addon.
#pragma once
#define KVAD_SPELLED
#define _IMMINTRIN_H_INCLUDED
#include <cstdint>
#include <cstring>

#include "half.h"

struct __m256i { uint8_t bytes[32]; };
struct __m512 { float f[16]; };
struct __m512i {
  union { uint8_t u8[64]; uint16_t u16[32]; int32_t i32[16]; };
};
enum { _MM_HINT_T0, _MM_FROUND_TO_NEAREST_INT };

template <class V, class P> V spelled_load(const P* p) { V v; std::memcpy(&v, p, sizeof v); return v; }
#define KVAD_LANES(type, member, count, value) { type r; for (int i = 0; i < count; i++) r.member[i] = value; return r; }

inline void _mm_prefetch(const char*, int) {}
inline __m256i _mm256_loadu_si256(const __m256i* p) { return spelled_load<__m256i>(p); }
inline void _mm256_storeu_si256(__m256i* p, __m256i v) { std::memcpy(p, &v, sizeof v); }
inline __m512i _mm512_loadu_si512(const void* p) { return spelled_load<__m512i>(p); }
inline __m512 _mm512_loadu_ps(const void* p) { return spelled_load<__m512>(p); }
inline void _mm512_storeu_ps(void* p, __m512 v) { std::memcpy(p, &v, sizeof v); }
inline __m512 _mm512_set1_ps(float v) KVAD_LANES(__m512, f, 16, v)
inline __m512 _mm512_setzero_ps() { return _mm512_set1_ps(0); }
inline __m512i _mm512_set1_epi32(int v) KVAD_LANES(__m512i, i32, 16, v)
inline __m512i _mm512_set1_epi8(char v) KVAD_LANES(__m512i, u8, 64, uint8_t(v))
inline __m512i _mm512_setzero_si512() { return _mm512_set1_epi32(0); }
inline __m512 _mm512_add_ps(__m512 a, __m512 b) KVAD_LANES(__m512, f, 16, a.f[i] + b.f[i])
inline __m512 _mm512_mul_ps(__m512 a, __m512 b) KVAD_LANES(__m512, f, 16, a.f[i] * b.f[i])
inline __m512 _mm512_fmadd_ps(__m512 a, __m512 b, __m512 c) KVAD_LANES(__m512, f, 16, a.f[i] * b.f[i] + c.f[i])
inline float _mm512_reduce_add_ps(__m512 a) { float sum = 0; for (const float v : a.f) sum += v; return sum; }
inline __m512i _mm512_add_epi32(__m512i a, __m512i b) KVAD_LANES(__m512i, i32, 16, a.i32[i] + b.i32[i])
inline __m512i _mm512_and_si512(__m512i a, __m512i b) KVAD_LANES(__m512i, u8, 64, a.u8[i] & b.u8[i])
inline __m512i _mm512_xor_si512(__m512i a, __m512i b) KVAD_LANES(__m512i, u8, 64, a.u8[i] ^ b.u8[i])
inline __m512i _mm512_slli_epi32(__m512i a, int n) KVAD_LANES(__m512i, i32, 16, int32_t(uint32_t(a.i32[i]) << n))
inline __m512i _mm512_slli_epi16(__m512i a, int n) KVAD_LANES(__m512i, u16, 32, uint16_t(a.u16[i] << n))
inline __m512 _mm512_castsi512_ps(__m512i a) { return spelled_load<__m512>(&a); }
inline __m512 _mm512_cvtepi32_ps(__m512i a) KVAD_LANES(__m512, f, 16, float(a.i32[i]))
inline __m512i _mm512_cvtepu16_epi32(__m256i a) {
  __m512i r;
  for (int i = 0; i < 16; i++) { uint16_t v; std::memcpy(&v, a.bytes + 2 * i, 2); r.i32[i] = v; }
  return r;
}
inline __m512 _mm512_cvtph_ps(__m256i a) {
  __m512 r;
  for (int i = 0; i < 16; i++) { uint16_t v; std::memcpy(&v, a.bytes + 2 * i, 2); r.f[i] = kvad::f16_to_f32(v); }
  return r;
}
inline __m256i _mm512_cvtps_ph(__m512 a, int) {
  __m256i r;
  for (int i = 0; i < 16; i++) { const uint16_t v = kvad::f32_to_f16(a.f[i]); std::memcpy(r.bytes + 2 * i, &v, 2); }
  return r;
}
// four products of an unsigned and a signed byte, added to each lane
inline __m512i _mm512_dpbusd_epi32(__m512i sum, __m512i a, __m512i b) {
  for (int i = 0; i < 64; i++) sum.i32[i / 4] += int32_t(a.u8[i]) * int8_t(b.u8[i]);
  return sum;
}
#undef KVAD_LANES
