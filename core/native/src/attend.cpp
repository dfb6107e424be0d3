// Causal softmax attention over cached keys and values, one piece per sequence, key head and block of query rows. Each
// cached key is read once for all query heads of its group; the softmax is kept running over tiles of 64 keys. A few
// queries (decode) read keys and values as they are stored. For many, scores and sums of values are the dense products of
// linear.cpp: the keys are a panel, and so are the values as they lie.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine.h"
#include "reader.h"

namespace kvad {
namespace {

constexpr int64_t kQueries = 64;   // of a block: rows times the query heads of one key head
constexpr int64_t kLeastRows = 4;
constexpr int64_t kFewQueries = 8;  // no more than these do not pay for turning the keys
constexpr float kNone = -std::numeric_limits<float>::infinity();

struct Segment {
  int64_t start, length, position;
  const State *keys, *values;
};

struct Shape {
  int64_t heads, kv_heads, key_dim, value_dim, window, chunk;
  float scale, cap;
  const float *sinks, *slopes;

  int64_t group() const { return heads / kv_heads; }
  int64_t first_key(int64_t position) const {
    int64_t first = 0;
    if (window > 0) first = std::max(first, position - window + 1);
    if (chunk > 0) first = std::max(first, position / chunk * chunk);
    return first;
  }
};

// Rows of this width for all that the queries of the segment see.
bool holds(const Segment& g, const State* state, int64_t width) { return state->width >= width && state->capacity >= g.position + g.length; }

Kind kind_of(const State& state) { return state.half ? Kind::F16 : Kind::F32; }
// Where head columns of a row begin.
const uint8_t* at(const State& state, int64_t row, int64_t column) {
  return state.memory.as<uint8_t>() + size_t(row * state.width + column) * (state.half ? 2 : 4);
}

// Bias, cap and mask of the scores of keys [tile, tile + count) for a query at `position`.
void shape_scores(const Shape& s, int64_t head, int64_t position, int64_t tile, int64_t count, float* scores) {
  if (s.slopes)
    for (int64_t j = 0; j < count; j++) scores[j] += s.slopes[head] * float(tile + j - position);
  if (s.cap > 0)
    for (int64_t j = 0; j < count; j++) scores[j] = s.cap * std::tanh(scores[j] / s.cap);
  const int64_t first = s.first_key(position);
  for (int64_t j = 0; j < count && tile + j < first; j++) scores[j] = kNone;
  for (int64_t j = std::max<int64_t>(0, position + 1 - tile); j < count; j++) scores[j] = kNone;
}

// `rows` query rows from `row0` of a segment, with the heads of one key head, over all their keys.
void attend_block(const Kernels& k, const Shape& s, const Segment& g, int64_t kv, int64_t row0, int64_t rows, const View& q, const View& out, Buffer& scratch) {
  const int64_t group = s.group(), kd = s.key_dim, vd = s.value_dim, queries = rows * group;
  const int64_t wide = (vd + kGroup - 1) / kGroup * kGroup;  // of a row of values, with zeros behind
  scratch.reserve(size_t(queries * (kd + wide + kKeyTile + 2) + kKeyTile * (kd + wide)) * 4 + 64);
  float* scaled = scratch.as<float>();
  float* acc = scaled + queries * kd;
  float* scores = acc + queries * wide;
  float* panels = scores + queries * kKeyTile;
  float* widened = panels + kKeyTile * kd;
  float* top = widened + kKeyTile * wide;
  float* sum = top + queries;
  for (int64_t i = 0; i < queries; i++) {
    const float* from = q.row(g.start + row0 + i / group) + (kv * group + i % group) * kd;
    for (int64_t d = 0; d < kd; d++) scaled[i * kd + d] = from[d] * s.scale;
    top[i] = s.sinks ? s.sinks[kv * group + i % group] : kNone;
    sum[i] = s.sinks ? 1.0f : 0.0f;
  }
  std::memset(acc, 0, size_t(queries * wide) * 4);

  const State &keys = *g.keys, &values = *g.values;
  const bool few = queries <= kFewQueries, in_place = !values.half && wide == vd;
  if (!few && !in_place) std::memset(widened, 0, size_t(kKeyTile * wide) * 4);
  const int64_t position = g.position + row0, last = position + rows;  // keys [first_key, last)
  for (int64_t tile = s.first_key(position); tile < last; tile += kKeyTile) {
    const int64_t n = std::min(kKeyTile, last - tile);
    // rows that see a key of this tile
    int64_t from = std::max<int64_t>(0, tile - position), to = rows;
    while (to > from && s.first_key(position + to - 1) >= tile + n) to--;
    const int64_t first = from * group, many = (to - from) * group;
    if (many == 0) continue;

    const float* rows_of_values = widened;
    int64_t stride = wide;
    if (few) {
      k.scores(kind_of(keys), at(keys, tile, kv * kd), keys.width, n, kd, scaled + first * kd, many, scores + first * kKeyTile, kKeyTile);
    } else {
      for (int64_t j = 0; j < n; j += kGroup) {
        k.pack(kind_of(keys), at(keys, tile + j, kv * kd), keys.width, std::min<int64_t>(kGroup, n - j), kd, panels);
        k.gemm_f32(panels, kGroup, kd, scaled + first * kd, kd, many, scores + first * kKeyTile + j, kKeyTile, true);
      }
      if (in_place) {
        rows_of_values = reinterpret_cast<const float*>(at(values, tile, kv * vd));
        stride = values.width;
      } else {
        for (int64_t j = 0; j < n; j++) k.widen(kind_of(values), at(values, tile + j, kv * vd), widened + j * wide, vd);
      }
    }

    for (int64_t i = first; i < first + many; i++) {
      float* p = scores + i * kKeyTile;
      shape_scores(s, kv * group + i % group, position + i / group, tile, n, p);
      float best = top[i];
      for (int64_t j = 0; j < n; j++) best = std::max(best, p[j]);
      // nothing seen yet: all keys count zero
      const float keep = top[i] == kNone ? 0.0f : std::exp(top[i] - best);
      sum[i] = sum[i] * keep + k.exponents(p, n, best == kNone ? 0.0f : best, p);
      top[i] = best;
      float* a = acc + i * wide;
      if (keep != 1)
        for (int64_t d = 0; d < wide; d++) a[d] *= keep;
    }
    if (few)
      k.mix(kind_of(values), at(values, tile, kv * vd), values.width, n, vd, scores + first * kKeyTile, kKeyTile, many, acc + first * wide, wide);
    else
      for (int64_t d = 0; d < wide; d += kGroup)
        k.gemm_f32(rows_of_values + d, stride, n, scores + first * kKeyTile, kKeyTile, many, acc + first * wide + d, wide, false);
  }
  for (int64_t i = 0; i < queries; i++) {
    float* to = out.row(g.start + row0 + i / group) + (kv * group + i % group) * vd;
    for (int64_t d = 0; d < vd; d++) to[d] = acc[i * wide + d] / sum[i];
  }
}

}  // namespace

void Engine::attend(Reader& in) {
  const View q = in.view();
  const View out = in.view();
  Shape s{};
  s.heads = in.count(1);
  s.kv_heads = in.count(1);
  s.key_dim = in.count(1);
  s.value_dim = in.count(1);
  s.scale = in.real();
  s.window = in.integer();
  s.chunk = in.integer();
  s.cap = in.real();
  s.sinks = in.values(s.heads);
  s.slopes = in.values(s.heads);
  const int64_t count = in.count();
  const bool shapes = is_product(s.heads, s.key_dim, q.cols) && is_product(s.heads, s.value_dim, out.cols) && s.heads % s.kv_heads == 0;
  if (!shapes || in.broken) { in.broken = true; return; }
  std::vector<Segment> segments;
  std::vector<int64_t> starts{0};
  const int64_t query_rows = std::max<int64_t>(kLeastRows, kQueries / s.group());
  for (int64_t i = 0; i < count; i++) {
    Segment g{};
    g.start = in.count();
    g.length = in.count();
    g.position = in.count();
    g.keys = in.state();
    g.values = in.state();
    if (in.broken || g.start + g.length > std::min(q.rows, out.rows) || !holds(g, g.keys, s.kv_heads * s.key_dim) || !holds(g, g.values, s.kv_heads * s.value_dim)) {
      in.broken = true;
      return;
    }
    segments.push_back(g);
    starts.push_back(starts.back() + (g.length + query_rows - 1) / query_rows * s.kv_heads);
  }
  if (!in.right()) return;
  wrote(out);
  pool_.run(starts.back(), [&](int64_t piece, int thread) {
    size_t index = 0;
    while (piece >= starts[index + 1]) index++;
    const Segment& g = segments[index];
    // the blocks with the most keys first: whoever comes last has little to do
    const int64_t blocks = (g.length + query_rows - 1) / query_rows;
    const int64_t turn = piece - starts[index], row0 = (blocks - 1 - turn / s.kv_heads) * query_rows;
    attend_block(*kernels_, s, g, turn % s.kv_heads, row0, std::min(query_rows, g.length - row0), q, out, scratch_[size_t(thread)]);
  });
}

}  // namespace kvad
