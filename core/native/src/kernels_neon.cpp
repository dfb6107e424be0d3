// Arm with dot products (sdot): a 16-byte register holds 4 rows x 4 columns of a chunk, the activation's four bytes are
// broadcast to all lanes, and each lane collects one row.
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>

#include "body.h"

namespace {

inline int8x16_t four(const int8_t* p) { int32_t v; std::memcpy(&v, p, 4); return vreinterpretq_s8_s32(vdupq_n_s32(v)); }

// rows 4*part.. of chunk j, signed
template <bool Q8> inline int8x16_t rows4(const uint8_t* block, int j, int part) {
  if (Q8) return vreinterpretq_s8_u8(vld1q_u8(block + j * 64 + part * 16));
  const uint8x16_t v = vld1q_u8(block + (j % 4) * 64 + part * 16);
  const uint8x16_t n = j < 4 ? vandq_u8(v, vdupq_n_u8(15)) : vshrq_n_u8(v, 4);
  return vsubq_s8(vreinterpretq_s8_u8(n), vdupq_n_s8(8));
}

template <bool Q8, int M> void tile(const uint8_t* group, const QuantRows& x, int64_t first, float* out, int64_t ldo) {
  constexpr int stride = Q8 ? 512 : 256;
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + size_t(stride) * size_t(x.blocks));
  const int8_t* q = x.q + first * x.blocks * kBlock;
  const float* xs = x.scale + first * x.blocks;
  const int64_t ldq = x.blocks * kBlock;
  float32x4_t acc[M][4];
  for (int m = 0; m < M; m++)
    for (int p = 0; p < 4; p++) acc[m][p] = vdupq_n_f32(0);
  for (int64_t b = 0; b < x.blocks; b++, group += stride, q += kBlock, scales += kGroup) {
    int32x4_t sum[M][4];
    for (int m = 0; m < M; m++)
      for (int p = 0; p < 4; p++) sum[m][p] = vdupq_n_s32(0);
    for (int j = 0; j < 8; j++)
      for (int p = 0; p < 4; p++) {
        const int8x16_t w = rows4<Q8>(group, j, p);
        for (int m = 0; m < M; m++) sum[m][p] = vdotq_s32(sum[m][p], w, four(q + m * ldq + 4 * j));
      }
    for (int p = 0; p < 4; p++) {
      const float32x4_t s = vcvt_f32_f16(vld1_f16(reinterpret_cast<const __fp16*>(scales + p * 4)));
      for (int m = 0; m < M; m++)
        acc[m][p] = vfmaq_f32(acc[m][p], vcvtq_f32_s32(sum[m][p]), vmulq_n_f32(s, xs[m * x.blocks + b]));
    }
  }
  for (int m = 0; m < M; m++)
    for (int p = 0; p < 4; p++) vst1q_f32(out + m * ldo + p * 4, acc[m][p]);
}

template <bool Q8> void gemv(const uint8_t* group, const QuantRows& x, int64_t row, float* out) { tile<Q8, 1>(group, x, row, out, kGroup); }

template <bool Q8>
void gemm(const uint8_t* group, const QuantRows& x, int64_t first, int64_t count, float* out, int64_t ldo) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) tile<Q8, 4>(group, x, first + i, out + i * ldo, ldo);
  for (; i < count; i++) tile<Q8, 1>(group, x, first + i, out + i * ldo, ldo);
}

}  // namespace

namespace kvad {
const Kernels* kernels_neon() {
  static const Kernels table = [] {
    Kernels k = body_table("neon");
    k.gemv_q8 = each_group<true, gemv<true>>;
    k.gemv_q4 = each_group<false, gemv<false>>;
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
const Kernels* kernels_neon() { return nullptr; }
}
#endif
