// Products with one matrix of a stack per row: experts (rows grouped by the matrix that they need, so that each is read
// once) and block-diagonal projections.
#include <algorithm>
#include <cstring>

#include "opcodes.h"
#include "reader.h"

namespace kvad {
namespace {

int64_t expert_of(const View& ids, int64_t pair) {
  int32_t id;
  std::memcpy(&id, ids.row(pair / ids.cols) + pair % ids.cols, 4);
  return id;
}

}  // namespace

void Engine::expert_linear(Reader& in, const double*& next, const double* end) {
  ExpertPart parts[4];
  int count = 0;
  View x{}, ids{};
  for (Reader at = in;;) {
    x = at.view();
    const Weight* w = at.weight();
    const View out = at.view();
    ids = at.view();
    const float* bias = at.values(w ? w->count * w->rows : 0);
    const int64_t pairs = ids.rows * ids.cols;
    if (!at.right(w && x.cols == w->cols && out.cols == w->rows && out.rows == pairs && (x.rows == ids.rows || x.rows == pairs))) { in.broken = true; return; }
    bool known = true;
    for (int64_t p = 0; p < pairs; p++) known = known && expert_of(ids, p) >= -1 && expert_of(ids, p) < w->count;
    if (!known) { in.broken = true; return; }
    parts[count++] = {w, out, bias};
    if (count == 4 || opcode_at(next, end) != int(Opcode::expertLinear)) break;
    const Reader following{next + 2, next + 2 + int64_t(next[1]), this};
    Reader peek = following;
    if (!same(peek.view(), x)) break;
    peek.next();
    peek.view();
    if (!same(peek.view(), ids) || peek.broken) break;
    next = peek.end;
    at = following;
  }
  scatter_experts(x, ids, parts, count);
  for (int i = 0; i < count; i++) wrote(parts[i].out);
}

void Engine::scatter_experts(View x, View ids, const ExpertPart* parts, int count) {
  const int64_t k = ids.cols, pairs = ids.rows * k;
  const bool each = x.rows == pairs;  // a row of x for each product, not for each token
  int64_t experts = 0;
  for (int i = 0; i < count; i++) experts = std::max(experts, parts[i].weight->count);

  // products by matrix: `pair_of[start[e] .. start[e + 1])`
  std::vector<int64_t> start(size_t(experts) + 1), pair_of(static_cast<size_t>(pairs));
  for (int64_t p = 0; p < pairs; p++) {
    const int64_t id = expert_of(ids, p);
    if (id >= 0) start[size_t(id) + 1]++;
    else for (int i = 0; i < count; i++) std::memset(parts[i].out.row(p), 0, size_t(parts[i].out.cols) * 4);
  }
  const bool apart = *std::max_element(start.begin(), start.end()) <= 1;  // no matrix has two rows
  for (int64_t e = 0; e < experts; e++) start[size_t(e) + 1] += start[size_t(e)];
  std::vector<int64_t> next(start.begin(), start.end() - 1);
  for (int64_t p = 0; p < pairs; p++)
    if (const int64_t id = expert_of(ids, p); id >= 0) pair_of[size_t(next[size_t(id)]++)] = p;
  const int64_t used = start.back();
  if (used == 0) return;
  const auto row_of = [&](int64_t i) { return each ? pair_of[size_t(i)] : pair_of[size_t(i)] / k; };

  parts_.clear();
  if (apart) {
    // a token's products read its row where it is: nothing is gathered, and it is quantised once
    for (int i = 0; i < count; i++)
      for (int64_t r = 0; r < used; r++) {
        const auto& [w, out, bias] = parts[i];
        const int64_t p = pair_of[size_t(r)], e = expert_of(ids, p);
        parts_.push_back({w, {out.row(p), 1, out.cols, out.stride}, bias ? bias + e * w->rows : nullptr, e, row_of(r)});
      }
    linear(x, parts_.data(), int64_t(parts_.size()));
    return;
  }

  // the rows in the order of the matrices, so that the products of one are one view
  int64_t columns = 0;
  for (int i = 0; i < count; i++) columns += parts[i].out.cols;
  gathered_.reserve(size_t(used * x.cols) * 4);
  scattered_.reserve(size_t(used * columns) * 4);
  const View from{gathered_.as<float>(), used, x.cols, x.cols};
  pool_.run((used + 15) / 16, [&](int64_t piece, int) {
    for (int64_t r = piece * 16; r < std::min(used, piece * 16 + 16); r++) std::memcpy(from.row(r), x.row(row_of(r)), size_t(x.cols) * 4);
  });
  std::vector<View> made;
  float* at = scattered_.as<float>();
  for (int i = 0; i < count; i++) {
    const auto& [w, out, bias] = parts[i];
    const View to{at, used, out.cols, out.cols};
    at += used * out.cols;
    made.push_back(to);
    for (int64_t e = 0; e < experts; e++)
      if (const int64_t first = start[size_t(e)], rows = start[size_t(e) + 1] - first; rows > 0)
        parts_.push_back({w, {to.row(first), rows, to.cols, to.stride}, bias ? bias + e * w->rows : nullptr, e, first});
  }
  quantised_.data = nullptr;  // other rows lay there before
  linear(from, parts_.data(), int64_t(parts_.size()));
  quantised_.data = nullptr;
  for (int i = 0; i < count; i++)
    pool_.run((used + 15) / 16, [&, i](int64_t piece, int) {
      for (int64_t r = piece * 16; r < std::min(used, piece * 16 + 16); r++)
        std::memcpy(parts[i].out.row(pair_of[size_t(r)]), made[size_t(i)].row(r), size_t(made[size_t(i)].cols) * 4);
    });
}

void Engine::combine(Reader& in) {
  const View x = in.view(), weights = in.view(), out = in.view();
  const float keep = in.real();
  const int64_t k = weights.cols;
  if (!in.right(weights.rows == out.rows && x.rows == out.rows * k && x.cols == out.cols)) return;
  wrote(out);
  rows_of(out, [&](int64_t r) {
    float* to = out.row(r);
    if (keep == 0) std::memset(to, 0, size_t(out.cols) * 4);
    else if (keep != 1) for (int64_t c = 0; c < out.cols; c++) to[c] *= keep;
    for (int64_t j = 0; j < k; j++)
      if (const float factor = weights.row(r)[j]; factor != 0) kernels_->axpy(x.row(r * k + j), to, 1.0f, factor, out.cols);
  });
}

void Engine::head_linear(Reader& in) {
  const View x = in.view();
  const Weight* weight = in.weight();
  const View out = in.view();
  if (!in.right(weight && x.rows == out.rows && x.cols == weight->count * weight->cols && out.cols == weight->count * weight->rows)) return;
  const Weight& w = *weight;
  wrote(out);
  // The heads of a row as rows of their own: head h of row r is row h * rows + r.
  gathered_.reserve(size_t(x.rows * x.cols) * 4);
  const View from{gathered_.as<float>(), x.rows * w.count, w.cols, w.cols};
  parts_.clear();
  for (int64_t h = 0; h < w.count; h++) {
    for (int64_t r = 0; r < x.rows; r++) std::memcpy(from.row(h * x.rows + r), x.row(r) + h * w.cols, size_t(w.cols) * 4);
    parts_.push_back({&w, {out.data + h * w.rows, x.rows, w.rows, out.stride}, nullptr, h, h * x.rows});
  }
  quantised_.data = nullptr;
  linear(from, parts_.data(), w.count);
  quantised_.data = nullptr;
}

}  // namespace kvad
