// Arm with int8 matrix products (smmla): 2 x 8 times 8 x 2. Two rows of activations at a time pass over a group; two
// chunks side by side give two weight rows of eight columns.
#if defined(__aarch64__) && defined(__ARM_FEATURE_MATMUL_INT8)
#include <arm_neon.h>

#include "body.h"

namespace {

// rows 4*part.. of chunk j, signed
template <bool Q8> inline int8x16_t rows4(const uint8_t* block, int j, int part) {
  if (Q8) return vreinterpretq_s8_u8(vld1q_u8(block + j * 64 + part * 16));
  const uint8x16_t v = vld1q_u8(block + (j % 4) * 64 + part * 16);
  const uint8x16_t n = j < 4 ? vandq_u8(v, vdupq_n_u8(15)) : vshrq_n_u8(v, 4);
  return vsubq_s8(vreinterpretq_s8_u8(n), vdupq_n_s8(8));
}

template <bool Q8> void pair(const uint8_t* group, const QuantRows& x, int64_t first, float* out, int64_t ldo) {
  constexpr int stride = Q8 ? 512 : 256;
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + size_t(stride) * size_t(x.blocks));
  const int8_t* q0 = x.q + first * x.blocks * kBlock;
  const int8_t* q1 = q0 + x.blocks * kBlock;
  const float* xs = x.scale + first * x.blocks;
  float32x4_t acc0[4], acc1[4];
  for (int p = 0; p < 4; p++) acc0[p] = acc1[p] = vdupq_n_f32(0);
  for (int64_t b = 0; b < x.blocks; b++, group += stride, q0 += kBlock, q1 += kBlock, scales += kGroup) {
    int32x4_t low[4], high[4];  // rows 4p, 4p+1 and 4p+2, 4p+3 of the group: [row a . x0, row a . x1, row b . x0, row b . x1]
    for (int p = 0; p < 4; p++) low[p] = high[p] = vdupq_n_s32(0);
    for (int j = 0; j < 8; j += 2) {
      const int8x16_t v = vcombine_s8(vld1_s8(q0 + 4 * j), vld1_s8(q1 + 4 * j));  // eight columns of each row
      for (int p = 0; p < 4; p++) {
        const int32x4_t a = vreinterpretq_s32_s8(rows4<Q8>(group, j, p)), c = vreinterpretq_s32_s8(rows4<Q8>(group, j + 1, p));
        low[p] = vmmlaq_s32(low[p], vreinterpretq_s8_s32(vzip1q_s32(a, c)), v);
        high[p] = vmmlaq_s32(high[p], vreinterpretq_s8_s32(vzip2q_s32(a, c)), v);
      }
    }
    for (int p = 0; p < 4; p++) {
      const float32x4_t s = vcvt_f32_f16(vld1_f16(reinterpret_cast<const __fp16*>(scales + p * 4)));
      const int32x4_t s0 = vuzp1q_s32(low[p], high[p]), s1 = vuzp2q_s32(low[p], high[p]);
      acc0[p] = vfmaq_f32(acc0[p], vcvtq_f32_s32(s0), vmulq_n_f32(s, xs[b]));
      acc1[p] = vfmaq_f32(acc1[p], vcvtq_f32_s32(s1), vmulq_n_f32(s, xs[x.blocks + b]));
    }
  }
  for (int p = 0; p < 4; p++) {
    vst1q_f32(out + p * 4, acc0[p]);
    vst1q_f32(out + ldo + p * 4, acc1[p]);
  }
}

template <bool Q8>
void gemm(const uint8_t* group, const QuantRows& x, int64_t first, int64_t count, float* out, int64_t ldo) {
  const Kernels* neon = kernels_neon();
  int64_t i = 0;
  for (; i + 2 <= count; i += 2) pair<Q8>(group, x, first + i, out + i * ldo, ldo);
  if (i < count) (Q8 ? neon->gemv_q8 : neon->gemv_q4)(group, 1, x, first + i, out + i * ldo);
}

}  // namespace

namespace kvad {
const Kernels* kernels_i8mm() {
  static const Kernels table = [] {
    Kernels k = *kernels_neon();
    k.name = "i8mm";
    k.gemm_q8 = gemm<true>;
    k.gemm_q4 = gemm<false>;
    return k;
  }();
  return &table;
}
}  // namespace kvad
#else
#include "kernels.h"
namespace kvad {
const Kernels* kernels_i8mm() { return nullptr; }
}
#endif
