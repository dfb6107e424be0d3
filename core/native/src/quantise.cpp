// Weights -> q8 and q4, and back. The rules (DESIGN 5), for a block of 32:
//   q8: s = f16(max|v| / 127), code = clamp(round(v / s), -127, 127), value = code * s
//   q4: e = the value of largest magnitude (the first on ties), s = f16(e / -8), code = clamp(floor(v / s + 8.5), 0, 15),
//       value = (code - 8) * s
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine.h"
#include "half.h"

namespace kvad {
namespace {

float stored(Kind kind, const void* data, int64_t index) {
  switch (kind) {
    case Kind::F32: return static_cast<const float*>(data)[index];
    case Kind::F16: return f16_to_f32(static_cast<const uint16_t*>(data)[index]);
    default: return bf16_to_f32(static_cast<const uint16_t*>(data)[index]);
  }
}

// A number that is none would become a code like any other.
bool all_finite(const float* v) {
  bool finite = true;
  for (int i = 0; i < kBlock; i++) finite &= std::isfinite(v[i]);
  return finite;
}

// Returns false where the values are no numbers or the scale does not fit.
bool block_q8(const float* v, uint8_t* block, int row, uint16_t* scale) {
  float top = 0;
  for (int i = 0; i < kBlock; i++) top = std::fmax(top, std::fabs(v[i]));
  *scale = f32_to_f16(top / 127.0f);
  const float s = f16_to_f32(*scale);
  for (int c = 0; c < kBlock; c++) {
    const float code = s > 0 ? std::nearbyintf(v[c] / s) : 0.0f;
    block[(c / 4) * 64 + row * 4 + c % 4] = uint8_t(int8_t(std::fmin(127.0f, std::fmax(-127.0f, code))));
  }
  return std::isfinite(s) && all_finite(v);
}

bool block_q4(const float* v, uint8_t* block, int row, uint16_t* scale) {
  float extreme = 0;
  for (int i = 0; i < kBlock; i++)
    if (std::fabs(v[i]) > std::fabs(extreme)) extreme = v[i];
  *scale = f32_to_f16(extreme / -8.0f);
  const float s = f16_to_f32(*scale);
  for (int c = 0; c < kBlock; c++) {
    const float code = s != 0 ? std::floor(v[c] / s + 8.5f) : 8.0f;
    const uint8_t nibble = uint8_t(std::fmin(15.0f, std::fmax(0.0f, code)));
    uint8_t* byte = block + (c / 4 % 4) * 64 + row * 4 + c % 4;
    *byte = c < 16 ? nibble : uint8_t(*byte | nibble << 4);
  }
  return std::isfinite(s) && all_finite(v);
}

}  // namespace

int64_t quantise_matrix(Pool& pool, Kind from, const void* data, int64_t rows, int64_t cols, Kind to, uint8_t* out) {
  const int64_t blocks = blocks_of(cols), groups = groups_of(rows);
  const size_t stride = codes_bytes(to, 1);
  std::atomic<int64_t> bad{0};
  pool.run(groups, [&](int64_t g, int) {
    uint8_t* group = out + size_t(g) * group_bytes(to, blocks);
    uint16_t* scales = reinterpret_cast<uint16_t*>(group + codes_bytes(to, blocks));
    std::memset(group, 0, group_bytes(to, blocks));
    for (int r = 0; r < kGroup; r++) {
      const int64_t row = g * kGroup + r;
      for (int64_t b = 0; b < blocks; b++) {
        float v[kBlock] = {0};
        if (row < rows)
          for (int c = 0; c < kBlock && b * kBlock + c < cols; c++) v[c] = stored(from, data, row * cols + b * kBlock + c);
        uint16_t* scale = scales + b * kGroup + r;
        const bool fits = to == Kind::Q8 ? block_q8(v, group + stride * size_t(b), r, scale) : block_q4(v, group + stride * size_t(b), r, scale);
        if (!fits) bad.fetch_add(1);
      }
    }
  });
  return bad.load();
}

void dequantise_row(const Weight& weight, int64_t matrix, int64_t row, float* out) {
  const int64_t blocks = blocks_of(weight.cols);
  const uint8_t* group = weight.matrix(matrix) + size_t(row / kGroup) * group_bytes(weight.kind, blocks);
  const uint16_t* scales = reinterpret_cast<const uint16_t*>(group + codes_bytes(weight.kind, blocks));
  const int r = int(row % kGroup);
  for (int64_t c = 0; c < weight.cols; c++) {
    const int64_t b = c / kBlock;
    const int i = int(c % kBlock);
    const uint8_t* block = group + codes_bytes(weight.kind, b);
    int code;
    if (weight.kind == Kind::Q8) code = int8_t(block[(i / 4) * 64 + r * 4 + i % 4]);
    else {
      const uint8_t byte = block[(i / 4 % 4) * 64 + r * 4 + i % 4];
      code = int(i < 16 ? byte & 15 : byte >> 4) - 8;
    }
    out[c] = float(code) * f16_to_f32(scales[b * kGroup + r]);
  }
}

}  // namespace kvad
