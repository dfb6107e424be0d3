// The one instruction that kernels_avxvnni.cpp uses beyond AVX2, spelled out: see spelled_avx512.h.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>

inline __m256i spelled_dpbusd(__m256i sum, __m256i a, __m256i b) {
  int32_t lanes[8];
  uint8_t left[32];
  int8_t right[32];
  std::memcpy(lanes, &sum, 32);
  std::memcpy(left, &a, 32);
  std::memcpy(right, &b, 32);
  for (int i = 0; i < 32; i++) lanes[i / 4] += int32_t(left[i]) * right[i];
  std::memcpy(&sum, lanes, 32);
  return sum;
}
#define _mm256_dpbusd_avx_epi32 spelled_dpbusd
