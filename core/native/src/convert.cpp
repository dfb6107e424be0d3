#include "convert.h"

#include <algorithm>
#include <cstring>

#include "half.h"

namespace kvad {
namespace {

struct F32 {
  using Stored = float;
  static float load(float v) { return v; }
  static float store(float v) { return v; }
};
struct F16 {
  using Stored = uint16_t;
  static float load(uint16_t v) { return f16_to_f32(v); }
  static uint16_t store(float v) { return f32_to_f16(v); }
};
struct BF16 {
  using Stored = uint16_t;
  static float load(uint16_t v) { return bf16_to_f32(v); }
  static uint16_t store(float v) { return f32_to_bf16(v); }
};

constexpr int64_t kPiece = 1 << 16;

template <class From, class To> void convert_all(Pool& pool, const void* data, int64_t count, void* out) {
  // of a file, where nothing is aligned
  const auto* values = static_cast<const char*>(data);
  auto* made = static_cast<typename To::Stored*>(out);
  pool.run((count + kPiece - 1) / kPiece, [&](int64_t piece, int) {
    const int64_t end = std::min(count, (piece + 1) * kPiece);
    for (int64_t i = piece * kPiece; i < end; i++) {
      typename From::Stored value;
      std::memcpy(&value, values + size_t(i) * sizeof value, sizeof value);
      made[i] = To::store(From::load(value));
    }
  });
}

template <class From> void convert_from(Pool& pool, const void* data, int64_t count, Kind to, void* out) {
  if (to == Kind::F32) convert_all<From, F32>(pool, data, count, out);
  else if (to == Kind::F16) convert_all<From, F16>(pool, data, count, out);
  else convert_all<From, BF16>(pool, data, count, out);
}

}  // namespace

void convert(Pool& pool, Kind from, const void* data, int64_t count, Kind to, void* out) {
  if (from == Kind::F32) convert_from<F32>(pool, data, count, to, out);
  else if (from == Kind::F16) convert_from<F16>(pool, data, count, to, out);
  else convert_from<BF16>(pool, data, count, to, out);
}

}  // namespace kvad
