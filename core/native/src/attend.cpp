// Causal softmax attention over cached keys and values, one piece per sequence, key head and block of query rows. Each
// cached key is read once for all query heads of its group; the softmax is kept running over tiles of 64 keys.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine.h"
#include "reader.h"

namespace kvad {
namespace {

constexpr int64_t kQueryRows = 16;
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

// Rows [from, from + count) of one head of a state as f32 [count, dim]; `direct` where they can be used in place.
void load_rows(const Kernels& k, const State& state, int64_t from, int64_t count, int64_t column, int64_t dim, float* to) {
  for (int64_t j = 0; j < count; j++) {
    const int64_t at = (from + j) * state.width + column;
    if (state.half) k.widen(Kind::F16, state.memory.as<uint16_t>() + at, to + j * dim, dim);
    else std::memcpy(to + j * dim, state.memory.as<float>() + at, size_t(dim) * 4);
  }
}

void transpose(const float* rows, int64_t count, int64_t dim, float* columns) {
  for (int64_t d = 0; d < dim; d++) {
    float* to = columns + d * kKeyTile;
    for (int64_t j = 0; j < count; j++) to[j] = rows[j * dim + d];
    for (int64_t j = count; j < kKeyTile; j++) to[j] = 0;
  }
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

}  // namespace

void Engine::attend(Reader& in) {
  const View q = in.view();
  const View out = in.view();
  Shape s{};
  s.heads = in.integer();
  s.kv_heads = in.integer();
  s.key_dim = in.integer();
  s.value_dim = in.integer();
  s.scale = in.real();
  s.window = in.integer();
  s.chunk = in.integer();
  s.cap = in.real();
  s.sinks = vector(in.next());
  s.slopes = vector(in.next());
  const int64_t count = in.integer();
  std::vector<Segment> segments;
  std::vector<int64_t> starts{0};
  for (int64_t i = 0; i < count; i++) {
    Segment g{};
    g.start = in.integer();
    g.length = in.integer();
    g.position = in.integer();
    g.keys = &states_[size_t(in.integer())];
    g.values = &states_[size_t(in.integer())];
    segments.push_back(g);
    starts.push_back(starts.back() + (g.length + kQueryRows - 1) / kQueryRows * s.kv_heads);
  }
  wrote(out);
  const Kernels& k = *kernels_;
  const int64_t group = s.group(), kd = s.key_dim, vd = s.value_dim;

  pool_.run(starts.back(), [&](int64_t piece, int thread) {
    size_t index = 0;
    while (piece >= starts[index + 1]) index++;
    const Segment& g = segments[index];
    const int64_t blocks = (g.length + kQueryRows - 1) / kQueryRows;
    const int64_t kv = (piece - starts[index]) / blocks, block = (piece - starts[index]) % blocks;
    const int64_t row0 = block * kQueryRows, rows = std::min(kQueryRows, g.length - row0), queries = rows * group;

    Buffer& scratch = scratch_[size_t(thread)];
    scratch.reserve(size_t(kKeyTile * (2 * kd + vd) + queries * (vd + 2) + 2 * kKeyTile) * 4 + 64);
    float* loaded = scratch.as<float>();
    float* columns = loaded + kKeyTile * kd;
    float* values = columns + kKeyTile * kd;
    float* acc = values + kKeyTile * vd;
    float* top = acc + queries * vd;
    float* sum = top + queries;
    float* scores = sum + queries;
    float* p = scores + kKeyTile;
    for (int64_t i = 0; i < queries; i++) {
      const float sink = s.sinks ? s.sinks[kv * group + i % group] : kNone;
      top[i] = sink;
      sum[i] = s.sinks ? 1.0f : 0.0f;
    }
    std::memset(acc, 0, size_t(queries * vd) * 4);

    const int64_t first = s.first_key(g.position + row0), last = g.position + row0 + rows;  // keys [first, last)
    const bool direct = queries < 3 && g.keys->half == false;
    for (int64_t tile = first; tile < last; tile += kKeyTile) {
      const int64_t n = std::min(kKeyTile, last - tile);
      if (!direct) {
        load_rows(k, *g.keys, tile, n, kv * kd, kd, loaded);
        if (queries >= 3) transpose(loaded, n, kd, columns);
      }
      load_rows(k, *g.values, tile, n, kv * vd, vd, values);
      for (int64_t r = 0; r < rows; r++) {
        const int64_t position = g.position + row0 + r;
        if (tile > position || tile + n <= s.first_key(position)) continue;
        for (int64_t h = 0; h < group; h++) {
          const int64_t head = kv * group + h, i = r * group + h;
          const float* query = q.row(g.start + row0 + r) + head * kd;
          if (queries >= 3) k.score(query, columns, kd, n, s.scale, scores);
          else
            for (int64_t j = 0; j < n; j++) {
              const float* key = direct ? g.keys->memory.as<float>() + (tile + j) * g.keys->width + kv * kd : loaded + j * kd;
              scores[j] = k.dot_f32(key, query, kd) * s.scale;
            }
          shape_scores(s, head, position, tile, n, scores);
          float best = top[i];
          for (int64_t j = 0; j < n; j++) best = std::max(best, scores[j]);
          if (best == kNone) continue;
          const float keep = top[i] == kNone ? 0.0f : std::exp(top[i] - best);
          sum[i] = sum[i] * keep + k.exponents(scores, n, best, p);
          k.mix(p, values, vd, n, keep, acc + i * vd);
          top[i] = best;
        }
      }
    }
    for (int64_t r = 0; r < rows; r++)
      for (int64_t h = 0; h < group; h++) {
        const int64_t i = r * group + h;
        float* to = out.row(g.start + row0 + r) + (kv * group + h) * vd;
        for (int64_t d = 0; d < vd; d++) to[d] = acc[i * vd + d] / sum[i];
      }
  });
}

}  // namespace kvad
