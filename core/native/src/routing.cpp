// From router scores to chosen experts and their weights; small, and in the order of the columns throughout.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "opcodes.h"
#include "reader.h"

namespace kvad {
namespace {

constexpr float kLeast = -std::numeric_limits<float>::infinity();

float rank_of(float value) { return std::isnan(value) ? kLeast : value; }

// Columns of the k largest values, largest first; ties: the lower column; NaN counts as smallest.
void largest(const float* values, int64_t n, int64_t k, int32_t* columns, std::vector<int32_t>& order) {
  order.resize(size_t(n));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [values](int32_t a, int32_t b) {
    const float x = rank_of(values[a]), y = rank_of(values[b]);
    return x != y ? x > y : a < b;
  });
  std::copy(order.begin(), order.begin() + k, columns);
}

}  // namespace

void Engine::routing(int code, Reader& in) {
  const View x = in.view();
  std::vector<int32_t> order;
  switch (Opcode(code)) {
    case Opcode::softmax: {
      const View out = in.view();
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      for (int64_t r = 0; r < x.rows; r++) {
        const float* from = x.row(r);
        float* to = out.row(r);
        const float top = *std::max_element(from, from + x.cols);
        double sum = 0;
        for (int64_t c = 0; c < x.cols; c++) { to[c] = std::exp(from[c] - top); sum += to[c]; }
        for (int64_t c = 0; c < x.cols; c++) to[c] = float(to[c] / sum);
      }
      return;
    }
    case Opcode::keepGroups: {
      const View out = in.view();
      const int64_t groups = in.count(1), keep = in.count(1);
      const bool sum2 = in.flag();
      const float masked = in.real();
      if (!in.right(same_shape(x, out) && x.cols % groups == 0 && keep <= groups)) return;
      wrote(out);
      const int64_t size = x.cols / groups;
      std::vector<float> strength(static_cast<size_t>(groups));
      std::vector<int32_t> kept(static_cast<size_t>(keep));
      for (int64_t r = 0; r < x.rows; r++) {
        for (int64_t g = 0; g < groups; g++) {
          int32_t best[2];
          const float* group = x.row(r) + g * size;
          largest(group, size, std::min<int64_t>(2, size), best, order);
          strength[size_t(g)] = sum2 && size > 1 ? group[best[0]] + group[best[1]] : group[best[0]];
        }
        largest(strength.data(), groups, keep, kept.data(), order);
        for (int64_t g = 0; g < groups; g++) {
          const bool stays = std::find(kept.begin(), kept.end(), int32_t(g)) != kept.end();
          for (int64_t c = g * size; c < (g + 1) * size; c++) out.row(r)[c] = stays ? x.row(r)[c] : masked;
        }
      }
      return;
    }
    case Opcode::topK: {
      const View ids = in.view();
      if (!in.right(ids.rows == x.rows && ids.cols <= x.cols)) return;
      wrote(ids);
      for (int64_t r = 0; r < x.rows; r++) largest(x.row(r), x.cols, ids.cols, reinterpret_cast<int32_t*>(ids.row(r)), order);
      return;
    }
    case Opcode::gather: {
      const View ids = in.view(), out = in.view();
      if (!in.right(ids.rows == x.rows && same_shape(ids, out))) return;
      wrote(out);
      for (int64_t r = 0; r < x.rows; r++)
        for (int64_t j = 0; j < ids.cols; j++) {
          int32_t id;
          std::memcpy(&id, ids.row(r) + j, 4);
          if (id < -1 || id >= x.cols) { in.broken = true; return; }
          out.row(r)[j] = id < 0 ? 0.0f : x.row(r)[id];
        }
      return;
    }
    case Opcode::normaliseRows: {
      const View out = in.view();
      const double eps = in.next(), floor = in.next();
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      for (int64_t r = 0; r < x.rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < x.cols; c++) sum += x.row(r)[c];
        sum = std::max(sum + eps, floor);
        for (int64_t c = 0; c < x.cols; c++) out.row(r)[c] = float(x.row(r)[c] / sum);
      }
      return;
    }
    default: {  // l2Norm
      const View out = in.view();
      const int64_t size = in.count(1);
      const float eps = in.real();
      if (!in.right(same_shape(x, out) && x.cols % size == 0)) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c += size) {
          double squares = 0;
          for (int64_t j = 0; j < size; j++) squares += double(x.row(r)[c + j]) * x.row(r)[c + j];
          const float factor = float(1.0 / std::sqrt(squares + double(eps)));
          for (int64_t j = 0; j < size; j++) out.row(r)[c + j] = x.row(r)[c + j] * factor;
        }
      });
      return;
    }
  }
}

}  // namespace kvad
