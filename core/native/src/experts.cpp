// Products with one matrix of a stack per row: experts (rows grouped by the matrix that they need, so that each is read
// once) and block-diagonal projections.
#include <algorithm>
#include <cstring>

#include "reader.h"

namespace kvad {

void Engine::expert_linear(Reader& in) {
  const View x = in.view();
  const Weight* weight = in.weight();
  const View out = in.view(), ids = in.view();
  const float* bias = in.values(weight ? weight->count * weight->rows : 0);
  const int64_t k = ids.cols, pairs = ids.rows * k;
  const bool each = x.rows == pairs;  // a row of x for each product, not for each token
  if (!in.right(weight && x.cols == weight->cols && out.cols == weight->rows && out.rows == pairs && (x.rows == ids.rows || each))) return;
  const Weight& w = *weight;
  wrote(out);

  // products by matrix: `pair_of[start[e] .. start[e + 1])`
  std::vector<int64_t> start(size_t(w.count) + 1), pair_of(static_cast<size_t>(pairs));
  const auto id_of = [&](int64_t pair) { int32_t id; std::memcpy(&id, ids.row(pair / k) + pair % k, 4); return int64_t(id); };
  for (int64_t p = 0; p < pairs; p++) {
    const int64_t id = id_of(p);
    if (id < -1 || id >= w.count) { in.broken = true; return; }
    if (id < 0) std::memset(out.row(p), 0, size_t(out.cols) * 4);
    else start[size_t(id) + 1]++;
  }
  for (int64_t e = 0; e < w.count; e++) start[size_t(e) + 1] += start[size_t(e)];
  std::vector<int64_t> next(start.begin(), start.end() - 1);
  for (int64_t p = 0; p < pairs; p++)
    if (const int64_t id = id_of(p); id >= 0) pair_of[size_t(next[size_t(id)]++)] = p;

  // the rows in that order, so that the products of one matrix are one view; a single token needs no copy
  const int64_t used = start.back();
  if (used == 0) return;
  Buffer& in_rows = gathered_, &out_rows = scattered_;
  in_rows.reserve(size_t(used * x.cols) * 4);
  out_rows.reserve(size_t(used * out.cols) * 4);
  for (int64_t i = 0; i < used; i++)
    std::memcpy(in_rows.as<float>() + i * x.cols, x.row(each ? pair_of[size_t(i)] : pair_of[size_t(i)] / k), size_t(x.cols) * 4);
  const View from{in_rows.as<float>(), used, x.cols, x.cols}, to{out_rows.as<float>(), used, out.cols, out.cols};

  std::vector<int64_t> experts;
  for (int64_t e = 0; e < w.count; e++)
    if (start[size_t(e) + 1] > start[size_t(e)]) experts.push_back(e);
  const int64_t groups = groups_of(w.rows), run = groups_per_piece(w, used / int64_t(experts.size()) + 1), runs = (groups + run - 1) / run;
  if (is_quantised(w)) quantise_rows(from);
  pool_.run(int64_t(experts.size()) * runs, [&](int64_t piece, int thread) {
    const int64_t e = experts[size_t(piece / runs)], first = piece % runs * run, rows = start[size_t(e) + 1] - start[size_t(e)];
    const View x_rows{from.row(start[size_t(e)]), rows, from.cols, from.stride};
    const LinearPart part{&w, {to.row(start[size_t(e)]), rows, to.cols, to.stride}, bias ? bias + e * w.rows : nullptr, e};
    linear_piece(x_rows, part, start[size_t(e)], first, std::min(run, groups - first), thread);
  });
  quantised_.data = nullptr;
  for (int64_t i = 0; i < used; i++) std::memcpy(out.row(pair_of[size_t(i)]), to.row(i), size_t(out.cols) * 4);
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
  const int64_t groups = groups_of(w.rows), run = groups_per_piece(w, x.rows), runs = (groups + run - 1) / run;
  // The heads of a row as rows of their own: head h of row r is row h * rows + r.
  gathered_.reserve(size_t(x.rows * x.cols) * 4);
  const View from{gathered_.as<float>(), x.rows * w.count, w.cols, w.cols};
  for (int64_t h = 0; h < w.count; h++)
    for (int64_t r = 0; r < x.rows; r++) std::memcpy(from.row(h * x.rows + r), x.row(r) + h * w.cols, size_t(w.cols) * 4);
  if (is_quantised(w)) quantise_rows(from);
  pool_.run(w.count * runs, [&](int64_t piece, int thread) {
    const int64_t h = piece / runs, first = piece % runs * run;
    const View rows{from.row(h * x.rows), x.rows, w.cols, w.cols};
    const LinearPart part{&w, {out.data + h * w.rows, x.rows, w.rows, out.stride}, nullptr, h};
    linear_piece(rows, part, h * x.rows, first, std::min(run, groups - first), thread);
  });
  quantised_.data = nullptr;
}

}  // namespace kvad
