// Each op of the interpreter in lists of random shapes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "lists.h"

namespace kvad {
namespace {

constexpr Kind kKinds[] = {Kind::F32, Kind::F16, Kind::BF16, Kind::Q8, Kind::Q4};

Kind any_kind(Lists& l) { return kKinds[l.random.from(0, 4)]; }

void rows_of_table(Lists& l) {
  const int64_t rows = l.random.from(1, 9), cols = l.random.from(1, 90), known = l.random.from(3, 40);
  const int table = l.weight(any_kind(l), 1, known, cols);
  l.begin("embed").id(table).tensor_at(l.ids(rows, 1, 0, known - 3)).tensor_at(l.tensor(rows, cols)).number(1.5).number(2);
  l.number(l.random.from(0, 1)).end();
}

// Several products of the same rows, which are one job, and one of other rows.
void products(Lists& l) {
  const int64_t rows = l.random.from(1, 20), cols = l.random.from(1, 150);
  const Tensor x = l.tensor(rows, cols, 2);
  const Kind kind = any_kind(l);
  for (int64_t left = l.random.from(1, 4); left > 0; left--) {
    const int64_t out = l.random.from(1, 70);
    const int weight = l.weight(kind, 1, out, cols);
    l.begin("linear").tensor_at(x).id(weight).tensor_at(l.tensor(rows, out)).vector_or_none(out).end();
  }
  const int weight = l.weight(any_kind(l), 1, 5, cols);
  l.begin("linear").tensor_at(l.tensor(rows, cols)).id(weight).tensor_at(l.tensor(rows, 5)).number(-1).end();
}

void norms(Lists& l) {
  const int64_t rows = l.random.from(1, 9), size = l.random.from(2, 70), groups = l.random.from(1, 3), cols = groups * size;
  const bool own = l.random.bits() % 2;
  const Tensor x = l.tensor(rows, cols, 4);
  const int weight = l.vector(own ? cols : size), bias = l.vector(own ? cols : size);
  l.begin("rmsNorm").tensor_at(x).tensor_at(l.tensor(rows, cols)).number(double(size)).number(1e-5).number(own).id(weight).number(own).end();
  l.begin("layerNorm").tensor_at(x).tensor_at(l.tensor(rows, cols)).number(double(size)).number(1e-5).number(0).id(weight).number(own).id(bias).end();
  l.begin("l2Norm").tensor_at(x).tensor_at(l.tensor(rows, cols)).number(double(size)).number(1e-5).end();
}

void elementwise(Lists& l) {
  const int64_t rows = l.random.from(1, 9), cols = l.random.from(1, 80), size = l.random.from(1, 7);
  const Tensor x = l.tensor(rows, cols, 3), y = l.tensor(rows, cols);
  const auto out = [&] { return l.tensor(rows, cols); };
  l.begin("activate").tensor_at(x).tensor_at(out()).number(double(l.random.from(0, 9))).end();
  l.begin("gated").tensor_at(x).tensor_at(y).tensor_at(out()).number(double(l.random.from(0, 9))).end();
  l.begin("xielu").tensor_at(x).tensor_at(out()).number(0.8).number(0.8).number(0.5).number(-1e-6).end();
  l.begin("add").tensor_at(x).tensor_at(out()).number(l.random.bits() % 2 ? 1 : 0.5).number(2).end();
  l.begin("multiply").tensor_at(x).tensor_at(y).tensor_at(out()).end();
  l.begin("scaleGroups").tensor_at(x).tensor_at(l.tensor(rows, (cols + size - 1) / size)).tensor_at(out()).number(double(size)).end();
  l.begin("affine").tensor_at(x).tensor_at(out()).vector_or_none(cols).vector_or_none(cols).end();
  l.begin("scale").tensor_at(x).tensor_at(out()).number(0.25).end();
  l.begin("clamp").tensor_at(x).tensor_at(out()).number(-1).number(INFINITY).end();
  l.begin("softcap").tensor_at(x).tensor_at(out()).number(2).end();
  l.begin("copy").tensor_at(x).tensor_at(out()).end();
}

void positions(Lists& l) {
  const int64_t rows = l.random.from(1, 9), heads = l.random.from(1, 5), head = l.random.from(2, 40), from = l.random.from(0, head - 2);
  const int64_t dims = l.random.from(1, (head - from) / 2) * 2;
  const Tensor x = l.tensor(rows, heads * head);
  l.begin("rope").tensor_at(x).tensor_at(l.tensor(rows, dims / 2)).tensor_at(l.tensor(rows, dims / 2)).number(double(dims));
  l.number(double(heads)).number(double(head)).number(double(from)).number(l.random.from(0, 1)).number(l.random.from(0, 1)).end();
}

void attention(Lists& l) {
  const int64_t kv = l.random.from(1, 3), group = l.random.from(1, 4), heads = kv * group, kd = l.random.from(1, 40), vd = l.random.from(1, 40);
  const int64_t count = l.random.from(1, 3);
  const bool half = l.random.bits() % 2;
  std::vector<int64_t> lengths, before;
  int64_t rows = 0;
  for (int64_t i = 0; i < count; i++) {
    lengths.push_back(l.random.from(1, 12));
    before.push_back(l.random.bits() % 3 ? l.random.from(0, l.random.bits() % 2 ? 90 : 1500) : 0);
    rows += lengths.back();
  }
  std::vector<int> keys, values;
  const Tensor k = l.tensor(rows, kv * kd), v = l.tensor(rows, kv * vd);
  for (int64_t i = 0, start = 0; i < count; start += lengths[size_t(i++)]) {
    const int64_t held = before[size_t(i)] + lengths[size_t(i)];
    keys.push_back(l.state(kv * kd, half, held));
    values.push_back(l.state(kv * vd, half, held));
    l.begin("append").id(keys.back()).tensor_at(k).number(double(start)).number(double(lengths[size_t(i)])).number(double(before[size_t(i)])).end();
    l.begin("append").id(values.back()).tensor_at(v).number(double(start)).number(double(lengths[size_t(i)])).number(double(before[size_t(i)])).end();
  }
  const auto maybe = [&](int64_t most) { return double(l.random.bits() % 2 ? l.random.from(1, most) : 0); };
  l.begin("attend").tensor_at(l.tensor(rows, heads * kd)).tensor_at(l.tensor(rows, heads * vd)).number(double(heads)).number(double(kv));
  l.number(double(kd)).number(double(vd)).number(0.3).number(maybe(40)).number(maybe(40)).number(maybe(5));
  l.vector_or_none(heads).vector_or_none(heads).number(double(count));
  for (int64_t i = 0, start = 0; i < count; start += lengths[size_t(i++)])
    l.number(double(start)).number(double(lengths[size_t(i)])).number(double(before[size_t(i)])).id(keys[size_t(i)]).id(values[size_t(i)]);
  l.end();
}

void router(Lists& l) {
  const int64_t rows = l.random.from(1, 9), groups = l.random.from(1, 4), size = l.random.from(1, 8), experts = groups * size;
  const int64_t k = l.random.from(1, experts);
  const Tensor x = l.tensor(rows, experts, 3), ids = l.ids(rows, k, 0, 0), chosen = l.tensor(rows, k);
  l.begin("softmax").tensor_at(x).tensor_at(l.tensor(rows, experts)).end();
  l.begin("keepGroups").tensor_at(x).tensor_at(l.tensor(rows, experts)).number(double(groups)).number(double(l.random.from(1, groups)));
  l.number(l.random.from(0, 1)).number(-5).end();
  l.begin("topK").tensor_at(x).tensor_at(ids).end();
  l.begin("gather").tensor_at(x).tensor_at(ids).tensor_at(chosen).end();
  l.begin("normaliseRows").tensor_at(l.tensor(rows, k)).tensor_at(l.tensor(rows, k)).number(100).number(1e-9).end();
}

void experts(Lists& l) {
  const int64_t tokens = l.random.from(1, 12), k = l.random.from(1, 3), count = l.random.from(1, 6), in = l.random.from(1, 70), out = l.random.from(1, 40);
  const int weight = l.weight(any_kind(l), count, out, in);
  const Tensor ids = l.ids(tokens, k, -1, count - 1), y = l.tensor(tokens * k, out);
  l.begin("expertLinear").tensor_at(l.tensor(l.random.bits() % 2 ? tokens : tokens * k, in)).id(weight).tensor_at(y).tensor_at(ids).vector_or_none(count * out).end();
  l.begin("combine").tensor_at(y).tensor_at(l.tensor(tokens, k)).tensor_at(l.tensor(tokens, out)).number(l.random.from(0, 1)).end();
  const int blocks = l.weight(any_kind(l), count, out, in);
  l.begin("headLinear").tensor_at(l.tensor(tokens, count * in)).id(blocks).tensor_at(l.tensor(tokens, count * out)).end();
}

void recurrence(Lists& l) {
  const int64_t kernel = l.random.from(2, 5), key_heads = l.random.from(1, 3), heads = key_heads * l.random.from(1, 2);
  const int64_t kd = l.random.from(1, 20), vd = l.random.from(1, 20), channels = l.random.from(1, 60), count = l.random.from(1, 3);
  std::vector<int64_t> lengths;
  int64_t rows = 0;
  for (int64_t i = 0; i < count; i++) rows += lengths.emplace_back(l.random.from(1, 12));
  const auto segments = [&](int64_t width) {
    l.number(double(count));
    for (int64_t i = 0, start = 0; i < count; start += lengths[size_t(i++)])
      l.number(double(start)).number(double(lengths[size_t(i)])).id(l.state(width, false, 1));
    l.end();
  };
  const int weight = l.vector(channels * kernel);
  l.begin("causalConv").tensor_at(l.tensor(rows, channels)).tensor_at(l.tensor(rows, channels)).id(weight).vector_or_none(channels).number(double(kernel));
  segments(channels * (kernel - 1));
  l.begin("deltaRule").tensor_at(l.tensor(rows, key_heads * kd)).tensor_at(l.tensor(rows, key_heads * kd, 0.3f)).tensor_at(l.tensor(rows, heads * vd));
  l.tensor_at(l.tensor(rows, heads, 0.5f)).tensor_at(l.tensor(rows, heads)).tensor_at(l.tensor(rows, heads * vd));
  l.number(double(key_heads)).number(double(heads)).number(double(kd)).number(double(vd));
  segments(heads * kd * vd);
}

// Rows wide enough that threads share them.
void wide(Lists& l) {
  const int64_t rows = l.random.from(3, 5), cols = 11000;
  const Tensor x = l.tensor(rows, cols);
  l.begin("scale").tensor_at(x).tensor_at(x).number(0.5).end();
}

const struct { const char* name; void (*build)(Lists&); } kLists[] = {
    {"embedding", rows_of_table}, {"products", products}, {"norms", norms}, {"elementwise", elementwise}, {"rotary positions", positions},
    {"attention", attention}, {"router", router}, {"experts", experts}, {"recurrence", recurrence}, {"wide rows", wide}};

// Rows that a wrong list gives to two sequences are written by both: that is wrong, not dangerous.
#if defined(__SANITIZE_THREAD__)
constexpr int kThreads = 1;
#else
constexpr int kThreads = 2;
#endif

// One more wrong thing in a list that was right.
double wrong_number(Random& random, double was) {
  const double choice[] = {-1, -2, 0, 1, was + 1, was - 1, was * 2, 1e18, -1e18, INFINITY, NAN, double(Lists::kArenaFloats), 2147483648.0, 4294967296.0, 9007199254740992.0, 0.5, double(random.bits() % 100)};
  return choice[random.from(0, int64_t(std::size(choice)) - 1)];
}

// Wrong in a way that cannot be anything else: to be refused.
void refusals(Lists& l, const char* name) {
  const auto refused = [&](const char* what, size_t at, double value) {
    auto list = l.list;
    list[at] = value;
    expect(!l.run(list).empty(), name, what, int64_t(at));
  };
  for (const size_t at : l.tensors_at) {
    for (const double first : {-1.0, double(Lists::kArenaFloats), 1e18, double(NAN)}) refused("a tensor that begins outside of the arena was taken", at, first);
    for (const double rows : {0.0, -1.0, 1e18, 9007199254740992.0}) refused("a tensor of impossible rows was taken", at + 1, rows);
    for (const double cols : {0.0, -1.0, double(Lists::kArenaFloats) + 1}) refused("a tensor of impossible columns was taken", at + 2, cols);
    refused("a tensor whose rows overlap was taken", at + 3, 0);
  }
  for (const size_t at : l.id_at)
    for (const double id : {-2.0, 1e6, 4294967296.0, double(INFINITY), double(NAN)}) refused("what does not exist was taken", at, id);
  for (const size_t at : l.commands_at) {
    for (const double code : {-1.0, 1000.0, double(NAN)}) refused("an unknown command was taken", at, code);
    for (const double count : {-1.0, 0.0, l.list[at + 1] - 1, 1e18, double(NAN)}) refused("a command with other arguments was taken", at + 1, count);
  }
}

}  // namespace

void lists_of(const Kernels& table, int threads, int turns) {
  Random random{uint64_t(977 + threads)};
  for (int turn = 0; turn < turns; turn++)
    for (const auto& [name, build] : kLists) {
      const Random seed{uint64_t(random.bits())};
      const bool dequantise = turn % 4 == 3;
      Lists mine(&table, threads, dequantise, seed), theirs(kernels_portable(), 1, dequantise, seed);
      build(mine);
      build(theirs);
      const std::string wrong = mine.run(), other = theirs.run();
      expect(wrong.empty() && other.empty(), name, ("refused: " + wrong + other).c_str());
      const auto a = mine.result(), b = theirs.result();
      expect(a.size() == b.size() && close(a.data(), b.data(), int64_t(a.size()), 1e-4f), table.name, name, turn);
      expect(mine.untouched(), table.name, ("memory beside the tensors was written: " + std::string(name)).c_str(), turn);
    }
}

void wrong_lists(int turns) {
  Random random{424242};
  const Kernels* best = kernels_for("");
  for (int turn = 0; turn < turns; turn++) {
    const auto& [name, build] = kLists[turn % int(std::size(kLists))];
    Lists lists(best, int(random.from(1, kThreads)), turn % 3 == 0, Random{random.bits()}, false);
    build(lists);
    refusals(lists, name);
    for (int i = 0; i < 100; i++) {
      auto list = lists.list;
      for (int64_t left = random.from(1, 3); left > 0; left--) {
        double& at = list[size_t(random.from(0, int64_t(list.size()) - 1))];
        at = wrong_number(random, at);
      }
      if (random.bits() % 4 == 0) list.resize(size_t(random.from(0, int64_t(list.size()))));
      lists.run(list);
    }
  }
}

}  // namespace kvad
