// Holds every table of kernels that this machine runs against the portable one, on random shapes, alone and in lists of
// commands, and shakes the thread pool. Built by `node core/native/build.mjs --check FILE`, with sanitizers too and for
// other machines; prints one line a table and exits 1 if anything differs. Buffers have the sizes that the engine gives
// them, so that a sanitizer sees a kernel that reads or writes beyond.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "half.h"
#include "self_check.h"

namespace kvad {
namespace {

int failures = 0;

}  // namespace

void expect(bool right, const char* table, const char* what, int64_t shape) {
  if (right) return;
  failures++;
  std::printf("FAILED %s: %s (shape %lld)\n", table, what, static_cast<long long>(shape));
}

bool close(const float* a, const float* b, int64_t n, float tolerance) {
  float top = 1;
  for (int64_t i = 0; i < n; i++) top = std::fmax(top, std::fabs(b[i]));
  for (int64_t i = 0; i < n; i++)
    if (!(std::fabs(a[i] - b[i]) <= tolerance * top)) return false;
  return true;
}

std::vector<uint16_t> narrowed(const std::vector<float>& from, Kind kind) {
  std::vector<uint16_t> out(from.size());
  for (size_t i = 0; i < from.size(); i++) out[i] = kind == Kind::F16 ? f32_to_f16(from[i]) : f32_to_bf16(from[i]);
  return out;
}

namespace {

// Codes, scales and corrections of some rows, in buffers of exactly their sizes.
struct Activations {
  std::vector<int8_t> q;
  std::vector<float> scale;
  std::vector<int32_t> over;
  int64_t blocks;

  Activations(const Kernels& k, const std::vector<float>& x, int64_t rows, int64_t cols)
      : q(size_t(rows * blocks_of(cols) * kBlock)), scale(size_t(rows * blocks_of(cols))), over(scale.size()), blocks(blocks_of(cols)) {
    for (int64_t r = 0; r < rows; r++)
      k.quantize(&x[size_t(r * cols)], cols, &q[size_t(r * blocks * kBlock)], &scale[size_t(r * blocks)], &over[size_t(r * blocks)]);
  }
  QuantRows view() const { return {q.data(), scale.data(), over.data(), blocks}; }
};

void quantised(const Kernels& k, const Kernels& p, Pool& pool, Random& random) {
  const int64_t rows = random.from(1, 20), weights = random.from(1, 200), cols = random.from(1, random.bits() % 8 == 0 ? 2200 : 200);
  const auto w = random.values(weights * cols), x = random.values(rows * cols, 3);
  const Activations mine(k, x, rows, cols), theirs(p, x, rows, cols);
  expect(mine.q == theirs.q && mine.over == theirs.over, k.name, "codes of activations", cols);
  expect(close(mine.scale.data(), theirs.scale.data(), int64_t(mine.scale.size()), 1e-6f), k.name, "scales of activations", cols);
  for (const Kind kind : {Kind::Q8, Kind::Q4}) {
    Buffer packed(quant_bytes(kind, weights, cols));
    expect(quantise_matrix(pool, Kind::F32, w.data(), weights, cols, kind, packed.as<uint8_t>()) == 0, k.name, "quantised without loss of range", cols);
    const auto gemv = kind == Kind::Q8 ? k.gemv_q8 : k.gemv_q4, plain = kind == Kind::Q8 ? p.gemv_q8 : p.gemv_q4;
    const auto gemm = kind == Kind::Q8 ? k.gemm_q8 : k.gemm_q4;
    const char* what = kind == Kind::Q8 ? "product of q8" : "product of q4";
    const int64_t groups = groups_of(weights), row = random.from(0, rows - 1);
    std::vector<float> all(size_t(groups * kGroup)), all_expected(all);
    gemv(packed.as<uint8_t>(), groups, theirs.view(), row, all.data());
    plain(packed.as<uint8_t>(), groups, theirs.view(), row, all_expected.data());
    expect(close(all.data(), all_expected.data(), groups * kGroup), k.name, what, groups);
    for (int64_t g = 0; g < groups; g++) {
      const uint8_t* group = packed.as<uint8_t>() + size_t(g) * group_bytes(kind, blocks_of(cols));
      std::vector<float> expected(size_t(rows * kGroup)), one(kGroup);
      for (int64_t r = 0; r < rows; r++) {
        plain(group, 1, theirs.view(), r, &expected[size_t(r * kGroup)]);
        gemv(group, 1, theirs.view(), r, one.data());
        expect(close(one.data(), &expected[size_t(r * kGroup)], kGroup), k.name, what, cols);
      }
      const int64_t first = random.from(0, rows - 1), count = rows - first, ldo = kGroup + random.from(0, 5);
      std::vector<float> many(size_t((count - 1) * ldo + kGroup));
      gemm(group, theirs.view(), first, count, many.data(), ldo);
      for (int64_t r = 0; r < count; r++)
        expect(close(&many[size_t(r * ldo)], &expected[size_t((first + r) * kGroup)], kGroup), k.name, what, cols);
    }
  }
}

// A number that is none, in a row of activations: its products are none, and those of the other rows are as they were.
void no_numbers(const Kernels& k, Pool& pool, Random& random) {
  const int64_t rows = random.from(2, 9), cols = random.from(1, 100), bad = random.from(0, rows - 1);
  const auto w = random.values(kGroup * cols);
  auto x = random.values(rows * cols);
  const Activations before(k, x, rows, cols);
  const float none[] = {NAN, INFINITY, -INFINITY};
  x[size_t(bad * cols + random.from(0, cols - 1))] = none[random.from(0, 2)];
  const Activations after(k, x, rows, cols);
  for (const Kind kind : {Kind::Q8, Kind::Q4}) {
    Buffer packed(quant_bytes(kind, kGroup, cols));
    quantise_matrix(pool, Kind::F32, w.data(), kGroup, cols, kind, packed.as<uint8_t>());
    const auto gemv = kind == Kind::Q8 ? k.gemv_q8 : k.gemv_q4;
    const auto gemm = kind == Kind::Q8 ? k.gemm_q8 : k.gemm_q4;
    std::vector<float> clean(size_t(rows * kGroup)), dirty(clean.size()), one(kGroup);
    gemm(packed.as<uint8_t>(), before.view(), 0, rows, clean.data(), kGroup);
    gemm(packed.as<uint8_t>(), after.view(), 0, rows, dirty.data(), kGroup);
    gemv(packed.as<uint8_t>(), 1, after.view(), bad, one.data());
    for (int64_t i = 0; i < rows * kGroup; i++)
      expect(i / kGroup == bad ? std::isnan(dirty[size_t(i)]) : dirty[size_t(i)] == clean[size_t(i)], k.name, "an activation that is no number", cols);
    for (const float y : one) expect(std::isnan(y), k.name, "an activation that is no number", cols);
  }
}

// What quantise_matrix makes, read back: no further from the value than half a step (q8), or than the last code allows.
void quantiser(Pool& pool, Random& random) {
  const int64_t rows = random.from(1, 40), cols = random.from(1, 100);
  const auto w = random.values(rows * cols);
  for (const Kind kind : {Kind::Q8, Kind::Q4}) {
    Buffer packed(quant_bytes(kind, rows, cols));
    quantise_matrix(pool, Kind::F32, w.data(), rows, cols, kind, packed.as<uint8_t>());
    Weight weight;
    weight.kind = kind;
    weight.rows = rows;
    weight.cols = cols;
    weight.data = packed.as<uint8_t>();
    std::vector<float> back(static_cast<size_t>(cols));
    for (int64_t r = 0; r < rows; r++) {
      dequantise_row(weight, 0, r, back.data());
      const float step = kind == Kind::Q8 ? 1.0f / 127 : 1.0f / 8;
      for (int64_t c = 0; c < cols; c++)
        expect(std::fabs(back[size_t(c)] - w[size_t(r * cols + c)]) <= step * 1.01f, "quantiser", kind == Kind::Q8 ? "q8" : "q4", cols);
    }
  }
}

void dense(const Kernels& k, const Kernels& p, Random& random) {
  const int64_t rows = random.from(1, 20), weights = random.from(1, 16), cols = random.from(1, 300);
  const auto w = random.values(weights * cols), x = random.values(rows * cols);
  const auto f16 = narrowed(w, Kind::F16), bf16 = narrowed(w, Kind::BF16);
  std::vector<uint16_t> halves(w.size());
  k.to_f16(w.data(), halves.data(), int64_t(w.size()));
  expect(halves == f16, k.name, "to f16", cols);
  const float mine[3] = {k.dot_f32(w.data(), x.data(), cols), k.dot_f16(f16.data(), x.data(), cols), k.dot_bf16(bf16.data(), x.data(), cols)};
  const float theirs[3] = {p.dot_f32(w.data(), x.data(), cols), p.dot_f16(f16.data(), x.data(), cols), p.dot_bf16(bf16.data(), x.data(), cols)};
  expect(close(mine, theirs, 3), k.name, "dot product", cols);
  if (weights >= 4) {
    const int64_t apart = weights / 4 * cols;
    float four[12], expected_four[12];
    for (const auto& [set, out] : {std::pair<const Kernels*, float*>{&k, four}, {&p, expected_four}}) {
      set->dot4_f32(w.data(), apart, x.data(), cols, out);
      set->dot4_f16(f16.data(), apart, x.data(), cols, out + 4);
      set->dot4_bf16(bf16.data(), apart, x.data(), cols, out + 8);
    }
    expect(close(four, expected_four, 12), k.name, "four dot products", cols);
  }
  for (const Kind kind : {Kind::F32, Kind::F16, Kind::BF16}) {
    const void* stored = kind == Kind::F32 ? static_cast<const void*>(w.data()) : kind == Kind::F16 ? f16.data() : bf16.data();
    std::vector<float> wide(w.size()), expected_wide(w.size()), panel(size_t(cols * kGroup)), expected_panel(panel.size());
    k.widen(kind, stored, wide.data(), int64_t(wide.size()));
    p.widen(kind, stored, expected_wide.data(), int64_t(wide.size()));
    expect(wide == expected_wide, k.name, "widening", cols);
    k.pack(kind, stored, cols, weights, cols, panel.data());
    p.pack(kind, stored, cols, weights, cols, expected_panel.data());
    expect(panel == expected_panel, k.name, "panel", cols);
    std::vector<float> out(size_t(rows * kGroup), 1.0f), expected(out);
    const bool first = random.bits() % 2 == 0;
    k.gemm_f32(panel.data(), kGroup, cols, x.data(), cols, rows, out.data(), kGroup, first);
    p.gemm_f32(panel.data(), kGroup, cols, x.data(), cols, rows, expected.data(), kGroup, first);
    expect(close(out.data(), expected.data(), rows * kGroup), k.name, "product of a panel", cols);
  }
}

void attention(const Kernels& k, const Kernels& p, Random& random) {
  const int64_t dim = random.from(1, 130), count = random.from(1, kKeyTile), queries = random.from(1, 9), stride = dim + random.from(0, 40);
  const auto cached = random.values(count * stride), q = random.values(queries * dim);
  const auto halves = narrowed(cached, Kind::F16);
  std::vector<float> expected = random.values(kKeyTile), weights(kKeyTile), expected_weights(kKeyTile);
  expected[0] = -INFINITY;
  const float sum = k.exponents(expected.data(), count, 1.0f, weights.data()), other = p.exponents(expected.data(), count, 1.0f, expected_weights.data());
  expect(close(weights.data(), expected_weights.data(), count, 1e-6f) && close(&sum, &other, 1, 1e-5f) && weights[0] == 0, k.name, "exponents", count);
  for (const Kind kind : {Kind::F32, Kind::F16}) {
    const void* stored = kind == Kind::F32 ? static_cast<const void*>(cached.data()) : halves.data();
    std::vector<float> scores(size_t(queries * kKeyTile), 0.5f), expected_scores(scores);
    k.scores(kind, stored, stride, count, dim, q.data(), queries, scores.data(), kKeyTile);
    p.scores(kind, stored, stride, count, dim, q.data(), queries, expected_scores.data(), kKeyTile);
    expect(close(scores.data(), expected_scores.data(), queries * kKeyTile), k.name, "scores", dim);
    auto acc = random.values(queries * (dim + 3)), expected_acc = acc;
    k.mix(kind, stored, stride, count, dim, scores.data(), kKeyTile, queries, acc.data(), dim + 3);
    p.mix(kind, stored, stride, count, dim, scores.data(), kKeyTile, queries, expected_acc.data(), dim + 3);
    expect(close(acc.data(), expected_acc.data(), queries * (dim + 3), 1e-4f), k.name, "sum of values", dim);
  }
}

void rows(const Kernels& k, const Kernels& p, Random& random) {
  const int64_t n = random.from(1, 200);
  const auto x = random.values(n, 6), y = random.values(n), w = random.values(n);
  std::vector<float> out(y), expected(y);
  const auto check = [&](const char* what, float tolerance = 2e-5f) { expect(close(out.data(), expected.data(), n, tolerance), k.name, what, n); };
  for (int f = 0; f < 10; f++) {
    k.activate(f, x.data(), out.data(), n);
    p.activate(f, x.data(), expected.data(), n);
    check("activation");
    k.gated(f, x.data(), y.data(), out.data(), n);
    p.gated(f, x.data(), y.data(), expected.data(), n);
    check("gated activation");
  }
  for (const float* weight : {static_cast<const float*>(nullptr), w.data()}) {
    k.rms_norm(x.data(), weight, 1, 1e-6f, n, out.data());
    p.rms_norm(x.data(), weight, 1, 1e-6f, n, expected.data());
    check("RMS norm");
    k.layer_norm(x.data(), weight, weight, 0, 1e-5f, n, out.data());
    p.layer_norm(x.data(), weight, weight, 0, 1e-5f, n, expected.data());
    check("layer norm", 1e-4f);
  }
  for (const float keep : {1.0f, 0.5f}) {
    k.axpy(x.data(), out.data(), keep, keep, n);
    p.axpy(x.data(), expected.data(), keep, keep, n);
    check("sum");
  }
}

// Each piece is done once, whatever the threads do, also right after the pool slept.
void pool_of(int threads, Random& random) {
  Pool pool(threads);
  for (int job = 0; job < 300; job++) {
    const int64_t pieces = random.from(0, 40);
    std::vector<std::atomic<int>> done(static_cast<size_t>(pieces));
    for (auto& one : done) one.store(0);
    pool.run(pieces, [&](int64_t piece, int thread) {
      if (thread >= 0 && thread < threads) done[size_t(piece)].fetch_add(1);
    });
    for (const auto& one : done) expect(one.load() == 1, "pool", "a piece was not done once", pieces);
    if (job % 100 == 99) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Posted tasks run one after the other, in order, with all their jobs, whenever the caller comes to wait for them; and no
// two calls share a thread's number.
void tasks_of(int threads, Random& random) {
  Pool pool(threads);
  for (int turn = 0; turn < 40; turn++) {
    const int count = int(random.from(0, 12));
    std::vector<int> order;  // written by one task at a time
    std::vector<std::atomic<int>> at_work(static_cast<size_t>(threads));
    std::atomic<int64_t> done{0}, shared{0};
    int64_t pieces = 0;
    for (int task = 0; task < count; task++) {
      const int64_t mine = random.from(0, 20);
      pieces += 2 * mine;
      pool.post([&, task, mine] {
        for (int job = 0; job < 2; job++)
          pool.run(mine, [&](int64_t, int thread) {
            if (at_work[size_t(thread)].fetch_add(1) != 0) shared++;
            done++;
            at_work[size_t(thread)].fetch_sub(1);
          });
        order.push_back(task);
      });
      if (random.from(0, 20) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    pool.finish();
    expect(done.load() == pieces, "pool", "pieces of posted tasks", threads);
    expect(shared.load() == 0, "pool", "two calls with one thread's number", threads);
    expect(int(order.size()) == count && std::is_sorted(order.begin(), order.end()), "pool", "posted tasks out of order", threads);
  }
}

// A table that computes something else has to be noticed.
void wrong_tables() {
  Kernels wrong = *kernels_for("");
  wrong.gemv_q8 = [](const uint8_t*, int64_t, const QuantRows&, int64_t, float* out) { std::memset(out, 0, kGroup * sizeof(float)); };
  expect(!agrees_with_portable(wrong), "self-check", "a wrong product of q8 was not noticed");
  wrong = *kernels_for("");
  wrong.dot_bf16 = [](const uint16_t*, const float*, int64_t) { return 0.5f; };
  expect(!agrees_with_portable(wrong), "self-check", "a wrong dot product was not noticed");
}

// Those that this machine runs, or those whose instructions are spelled out.
std::vector<const Kernels*> tables() {
  std::vector<const Kernels*> all;
  const std::string names = kernels_here();
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    all.push_back(kernels_for(names.substr(at, end - at).c_str()));
    at = end + 1;
  }
#ifdef KVAD_SPELLED
  all = {kernels_avx512(), kernels_avxvnni()};
#endif
  return all;
}

}  // namespace
}  // namespace kvad

using namespace kvad;

int main(int count, char** words) {
  const int turns = count > 1 ? std::atoi(words[1]) : 200;
  const Kernels& portable = *kernels_portable();
  expect(std::strlen(kernels_distrusted()) == 0, kernels_distrusted(), "failed the self-check");
  for (const Kernels* table : tables()) {
    Random random{20240501};
    Pool pool(2);
    for (int turn = 0; turn < turns; turn++) {
      quantised(*table, portable, pool, random);
      no_numbers(*table, pool, random);
      dense(*table, portable, random);
      attention(*table, portable, random);
      rows(*table, portable, random);
    }
    for (int threads = 1; threads <= 4; threads++) lists_of(*table, threads, turns);
    std::printf("%s: %d random shapes of each kernel\n", table->name, turns);
  }
  Random random{7};
  Pool pool(2);
  for (int turn = 0; turn < turns; turn++) quantiser(pool, random);
  for (int threads = 1; threads <= 4; threads++) {
    pool_of(threads, random);
    tasks_of(threads, random);
  }
  wrong_tables();
  wrong_lists(turns * 20);
  faults();
  std::printf(failures == 0 ? "all agree with portable\n" : "%d differences\n", failures);
  return failures == 0 ? 0 : 1;
}
