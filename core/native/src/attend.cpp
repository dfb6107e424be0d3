// Causal softmax attention over cached keys and values. Each cached key is read once for all query heads of its group; the
// softmax is kept running over tiles of 64 keys. A piece is a block of a sequence's rows with a key head, over all of its
// keys. Where there are few rows (decode) and many keys, it is a run of keys with all heads, and what the pieces have
// seen is put together. A few queries of a key head read keys and values as they are stored; for
// many, scores and sums of values are the dense products of linear.cpp: the keys are a panel, and so are the values.
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
constexpr int64_t kShortRows = 8;           // segments of no more rows may share their keys among the threads
constexpr int64_t kSharedKeys = 1024;       // from so many on
constexpr int64_t kPieceWork = 1 << 20;     // multiplications of such a piece: some tens of microseconds
constexpr int64_t kMostPieces = 32;
constexpr int64_t kPartialFloats = 1 << 18;  // of a sequence
constexpr int64_t kAloneFloats = 32 * 1024;  // one thread adds these faster than a hand-over takes
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

// The largest of these scores and `least`, several at a time; what is no number is passed over.
float largest(const float* scores, int64_t count, float least) {
  constexpr int64_t width = 8;
  float lanes[width];
  for (float& lane : lanes) lane = least;
  int64_t j = 0;
  for (; j + width <= count; j += width)
    for (int64_t l = 0; l < width; l++) lanes[l] = lanes[l] < scores[j + l] ? scores[j + l] : lanes[l];
  for (; j < count; j++) least = std::max(least, scores[j]);
  for (const float lane : lanes) least = std::max(least, lane);
  return least;
}

// Of a call: what its pieces share.
struct Call {
  const Kernels& k;
  const Shape& s;
  const View &q, &out;
};

// A piece: query rows [row, row + rows) of a segment with key heads [head, head + heads), over keys [from, to).
struct Block {
  const Segment* g;
  int64_t row, rows, head, heads, from, to;
  int64_t partial = -1;  // where what it has seen is kept for others to add to
};

// What queries have seen of their keys: the running softmax. Of query i: the largest score, the sum of exponentials
// below it, and the values weighted by them.
struct Running {
  float *top, *sum, *acc;
  int64_t wide;  // of a row of acc

  static int64_t wide_of(int64_t value_dim) { return (value_dim + kGroup - 1) / kGroup * kGroup; }
  static int64_t floats(int64_t queries, int64_t value_dim) { return queries * (wide_of(value_dim) + 2); }
  Running(float* memory, int64_t queries, int64_t value_dim)
      : top(memory + queries * wide_of(value_dim)), sum(top + queries), acc(memory), wide(wide_of(value_dim)) {}
};

// The queries of a block go in the order of its key heads, of their rows, of the heads of a group.
float* output_of(const Call& c, const Block& b, int64_t query) {
  const int64_t group = c.s.group(), each = b.rows * group, kv = b.head + query / each, i = query % each;
  return c.out.row(b.g->start + b.row + i / group) + (kv * group + i % group) * c.s.value_dim;
}

// Tiles of keys outside, key heads inside: the rows of the cache are read one after the other.
void attend_block(const Call& c, const Block& b, const Running& seen, Buffer& scratch) {
  const Kernels& k = c.k;
  const Shape& s = c.s;
  const Segment& g = *b.g;
  const int64_t group = s.group(), kd = s.key_dim, vd = s.value_dim, wide = seen.wide, queries = b.rows * group, all = queries * b.heads;
  scratch.reserve(size_t(all * kd + queries * kKeyTile + kKeyTile * (kd + wide)) * 4 + 64);
  float* scaled = scratch.as<float>();
  float* scores = scaled + all * kd;
  float* panels = scores + queries * kKeyTile;
  float* widened = panels + kKeyTile * kd;
  const bool is_first = b.from <= s.first_key(g.position + b.row);  // the sinks are seen once
  for (int64_t i = 0; i < all; i++) {
    const int64_t head = (b.head + i / queries) * group + i % group;
    const float* from = c.q.row(g.start + b.row + i % queries / group) + head * kd;
    for (int64_t d = 0; d < kd; d++) scaled[i * kd + d] = from[d] * s.scale;
    seen.top[i] = s.sinks && is_first ? s.sinks[head] : kNone;
    seen.sum[i] = s.sinks && is_first ? 1.0f : 0.0f;
  }
  std::memset(seen.acc, 0, size_t(all * wide) * 4);

  const State &keys = *g.keys, &values = *g.values;
  const bool few = queries <= kFewQueries, in_place = !values.half && wide == vd;
  if (!few && !in_place) std::memset(widened, 0, size_t(kKeyTile * wide) * 4);
  const int64_t position = g.position + b.row;
  for (int64_t tile = b.from; tile < b.to; tile += kKeyTile) {
    const int64_t n = std::min(kKeyTile, b.to - tile);
    // rows that see a key of this tile
    int64_t from = std::max<int64_t>(0, tile - position), to = b.rows;
    while (to > from && s.first_key(position + to - 1) >= tile + n) to--;
    const int64_t first = from * group, many = (to - from) * group;
    if (many == 0) continue;

    for (int64_t h = 0; h < b.heads; h++) {
      const int64_t kv = b.head + h, begin = h * queries + first;  // of these queries, in the block's
      const float* rows_of_values = widened;
      int64_t stride = wide;
      if (few) {
        k.scores(kind_of(keys), at(keys, tile, kv * kd), keys.width, n, kd, scaled + begin * kd, many, scores, kKeyTile);
      } else {
        for (int64_t j = 0; j < n; j += kGroup) {
          k.pack(kind_of(keys), at(keys, tile + j, kv * kd), keys.width, std::min<int64_t>(kGroup, n - j), kd, panels);
          k.gemm_f32(panels, kGroup, kd, scaled + begin * kd, kd, many, scores + j, kKeyTile, true);
        }
        if (in_place) {
          rows_of_values = reinterpret_cast<const float*>(at(values, tile, kv * vd));
          stride = values.width;
        } else {
          for (int64_t j = 0; j < n; j++) k.widen(kind_of(values), at(values, tile + j, kv * vd), widened + j * wide, vd);
        }
      }

      for (int64_t i = 0; i < many; i++) {
        float* p = scores + i * kKeyTile;
        float& top = seen.top[begin + i];
        float& sum = seen.sum[begin + i];
        shape_scores(s, kv * group + i % group, position + from + i / group, tile, n, p);
        const float best = largest(p, n, top);
        // nothing seen yet: all keys count zero
        const float keep = top == kNone ? 0.0f : std::exp(top - best);
        sum = sum * keep + k.exponents(p, n, best == kNone ? 0.0f : best, p);
        top = best;
        float* a = seen.acc + (begin + i) * wide;
        if (keep != 1)
          for (int64_t d = 0; d < wide; d++) a[d] *= keep;
      }
      float* acc = seen.acc + begin * wide;
      if (few)
        k.mix(kind_of(values), at(values, tile, kv * vd), values.width, n, vd, scores, kKeyTile, many, acc, wide);
      else
        for (int64_t d = 0; d < wide; d += kGroup)
          k.gemm_f32(rows_of_values + d, stride, n, scores, kKeyTile, many, acc + d, wide, false);
    }
  }
}

// What the pieces that share the keys of these queries have seen, as one: out = sum_j acc_j e_j / sum_j sum_j e_j with
// e_j = e^(top_j - the largest). What is no number in one of them stays none.
void merge(const Call& c, const Block& b, const std::vector<Running>& pieces, int64_t query) {
  float best = kNone, sum = 0;
  for (const Running& seen : pieces) best = std::max(best, seen.top[query]);
  float* out = output_of(c, b, query);
  std::memset(out, 0, size_t(c.s.value_dim) * 4);
  for (const Running& seen : pieces) {
    const float weight = seen.top[query] == kNone ? 0.0f : std::exp(seen.top[query] - best);
    sum += seen.sum[query] * weight;
    c.k.axpy(seen.acc + query * seen.wide, out, 1, weight, c.s.value_dim);
  }
  for (int64_t d = 0; d < c.s.value_dim; d++) out[d] /= sum;
}

// Whether the keys of so few rows are shared: where they are many enough to pay for putting together what the pieces have
// seen, or one key head would leave the other threads without work. Not a matter of how many threads there are, nor of
// other sequences: results are the same with any.
bool shares_keys(const Shape& s, int64_t rows, int64_t keys) {
  if (rows > kShortRows) return false;
  return s.kv_heads == 1 ? keys >= kSharedKeys / 4 : rows * s.group() <= kFewQueries && keys >= kSharedKeys;
}

// Keys of a piece where they are shared: pieces alike, of a tile at least, no more of them than kMostPieces or than there is
// room for what they have seen.
int64_t keys_of_piece(const Shape& s, int64_t rows, int64_t keys) {
  const auto parts = [](int64_t n, int64_t of) { return (n + of - 1) / of; };
  constexpr int64_t together = 4;  // keys that the kernels read at once
  const int64_t queries = rows * s.heads, work = queries * (s.key_dim + s.value_dim);
  const int64_t wanted = parts(keys, std::max<int64_t>(kKeyTile, kPieceWork / work));
  const int64_t most = std::max<int64_t>(1, std::min(kMostPieces, kPartialFloats / Running::floats(queries, s.value_dim)));
  return parts(parts(keys, std::min(wanted, most)), together) * together;
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
  }
  if (!in.right()) return;
  wrote(out);

  const Call call{*kernels_, s, q, out};
  const auto floats_of = [&](const Block& b) { return Running::floats(b.rows * s.group() * b.heads, s.value_dim); };
  std::vector<Block> blocks;
  struct Split {
    size_t first, count;  // blocks that share the keys of the same queries
  };
  std::vector<Split> splits;
  int64_t floats = 0;
  for (const Segment& g : segments) {
    if (g.length == 0) continue;
    const int64_t last = g.position + g.length, first = s.first_key(g.position);
    if (!shares_keys(s, g.length, last - first)) {
      const int64_t rows = std::max<int64_t>(kLeastRows, kQueries / s.group());
      // the blocks with the most keys first: whoever comes last has little to do
      for (int64_t row = (g.length - 1) / rows * rows; row >= 0; row -= rows)
        for (int64_t kv = 0; kv < s.kv_heads; kv++) {
          const int64_t many = std::min(rows, g.length - row), position = g.position + row;
          blocks.push_back({&g, row, many, kv, 1, s.first_key(position), position + many});
        }
      continue;
    }
    const int64_t each = keys_of_piece(s, g.length, last - first);
    const size_t begin = blocks.size();
    for (int64_t key = first; key < last; key += each) blocks.push_back({&g, 0, g.length, 0, s.kv_heads, key, std::min(last, key + each)});
    const size_t many = blocks.size() - begin;
    if (many <= 1) continue;
    splits.push_back({begin, many});
    for (size_t i = begin; i < blocks.size(); i++) {
      blocks[i].partial = floats;
      floats += floats_of(blocks[i]);
    }
  }
  partials_.reserve(size_t(floats) * 4);
  const auto running = [&](const Block& b) { return Running(partials_.as<float>() + b.partial, b.rows * s.group() * b.heads, s.value_dim); };
  pool_.run(int64_t(blocks.size()), [&](int64_t piece, int thread) {
    const Block& b = blocks[size_t(piece)];
    if (b.partial >= 0) return attend_block(call, b, running(b), scratch_[size_t(thread)]);
    Buffer& own = seen_[size_t(thread)];
    own.reserve(size_t(floats_of(b)) * 4);
    const int64_t queries = b.rows * s.group() * b.heads;
    const std::vector<Running> seen{Running(own.as<float>(), queries, s.value_dim)};
    attend_block(call, b, seen[0], scratch_[size_t(thread)]);
    for (int64_t i = 0; i < queries; i++) merge(call, b, seen, i);
  });
  for (const Split& split : splits) {
    const Block& b = blocks[split.first];
    std::vector<Running> pieces;
    for (size_t i = 0; i < split.count; i++) pieces.push_back(running(blocks[split.first + i]));
    const int64_t queries = b.rows * s.heads;
    if (floats_of(b) * int64_t(split.count) <= kAloneFloats)
      for (int64_t i = 0; i < queries; i++) merge(call, b, pieces, i);
    else
      pool_.run(queries, [&](int64_t i, int) { merge(call, b, pieces, i); });
  }
}

}  // namespace kvad
