// The interpreter of command lists, and the ops that are small enough to stand here.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "half.h"
#include "opcodes.h"
#include "reader.h"

namespace kvad {
namespace {

constexpr int64_t kActivations = 10;

}  // namespace

void Engine::embed(Reader& in) {
  const Weight* found = in.weight();
  const View ids = in.view(), out = in.view();
  const float scale = in.real();
  const int64_t offset = in.integer();
  const bool add = in.flag();
  if (!in.right(found && ids.rows >= out.rows && out.cols == found->cols)) return;
  const Weight& table = *found;
  wrote(out);
  std::vector<float> row(static_cast<size_t>(table.cols));
  for (int64_t r = 0; r < out.rows; r++) {
    int32_t id;
    std::memcpy(&id, ids.row(r), 4);
    const int64_t at = int64_t(id) + offset;
    if (at < 0 || at >= table.rows) { in.broken = true; return; }
    if (table.kind == Kind::Q8 || table.kind == Kind::Q4) dequantise_row(table, 0, at, row.data());
    else kernels_->widen(table.kind, table.data + size_t(at * table.cols) * dense_bytes(table.kind), row.data(), table.cols);
    float* to = out.row(r);
    if (add) for (int64_t c = 0; c < out.cols; c++) to[c] += scale * row[size_t(c)];
    else for (int64_t c = 0; c < out.cols; c++) to[c] = scale * row[size_t(c)];
  }
}

void Engine::rope(Reader& in) {
  const View x = in.view(), cos = in.view(), sin = in.view();
  const int64_t dims = in.count(), heads = in.count(1), head_dim = in.count(1), from = in.count();
  const bool interleaved = in.flag(), inverse = in.flag();
  const int64_t half = dims / 2;
  const bool angles = cos.rows >= x.rows && sin.rows >= x.rows && cos.cols >= half && sin.cols >= half;
  if (!in.right(angles && is_product(heads, head_dim, x.cols) && from + dims <= head_dim)) return;
  wrote(x);
  rows_of(x, [&](int64_t r) {
    const float *c = cos.row(r), *s = sin.row(r);
    for (int64_t h = 0; h < heads; h++) {
      float* v = x.row(r) + h * head_dim + from;
      for (int64_t i = 0; i < half; i++) {
        float& a = v[interleaved ? 2 * i : i];
        float& b = v[interleaved ? 2 * i + 1 : i + half];
        const float sine = inverse ? -s[i] : s[i], p = a, q = b;
        a = p * c[i] - q * sine;
        b = q * c[i] + p * sine;
      }
    }
  });
}

void Engine::append(Reader& in) {
  State* state = in.state();
  const View x = in.view();
  const int64_t start = in.count(), length = in.count(), position = in.count();
  if (!in.right(state && start + length <= x.rows && position + length <= state->capacity && x.cols == state->width)) return;
  for (int64_t r = 0; r < length; r++) {
    if (state->half) kernels_->to_f16(x.row(start + r), state->memory.as<uint16_t>() + (position + r) * state->width, state->width);
    else std::memcpy(state->memory.as<float>() + (position + r) * state->width, x.row(start + r), state->row_bytes());
  }
}

// Products of the same rows that follow each other are one job: `at` goes on behind the last of them.
void Engine::linears(Reader& in, const double*& at, const double* end) {
  LinearPart parts[8];
  int n = 0;
  const View x = in.view();
  for (;;) {
    const Weight* weight = in.weight();
    const View out = in.view();
    const float* bias = in.values(weight ? weight->rows : 0);
    if (!in.right(weight && out.cols == weight->rows && x.cols == weight->cols && out.rows == x.rows)) return;
    parts[n++] = {weight, out, bias};
    if (n == 8 || opcode_at(at, end) != int(Opcode::linear)) break;
    Reader peek{at + 2, at + 2 + int64_t(at[1]), this};
    if (!same(peek.view(), x) || peek.broken) break;
    at = peek.end;
    in = peek;
  }
  linear(x, parts, n);
  for (int i = 0; i < n; i++) wrote(parts[i].out);
}

void Engine::elementwise(int code, Reader& in) {
  const Opcode op = Opcode(code);
  const Kernels& k = *kernels_;
  const View x = in.view();
  switch (op) {
    case Opcode::rmsNorm:
    case Opcode::layerNorm: {
      const View out = in.view();
      const int64_t size = in.count(1);
      const float eps = in.real(), offset = in.real();
      const Vector* weights = in.vector();
      const bool own = in.flag();  // the weight has a value for each column of the row, not of the group
      const int64_t length = own ? x.cols : size;
      const float* weight = in.values_of(weights, length);
      const float* bias = op == Opcode::layerNorm ? in.values(length) : nullptr;
      if (!in.right(same_shape(x, out) && x.cols % size == 0)) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c += size) {
          const float* w = weight ? weight + (own ? c : 0) : nullptr;
          const float* b = bias ? bias + (own ? c : 0) : nullptr;
          if (op == Opcode::rmsNorm) k.rms_norm(x.row(r) + c, w, offset, eps, size, out.row(r) + c);
          else k.layer_norm(x.row(r) + c, w, b, offset, eps, size, out.row(r) + c);
        }
      });
      return;
    }
    case Opcode::activate: {
      const View out = in.view();
      const int64_t f = in.count();
      if (!in.right(same_shape(x, out) && f < kActivations)) return;
      wrote(out);
      rows_of(x, [&](int64_t r) { k.activate(int(f), x.row(r), out.row(r), x.cols); });
      return;
    }
    case Opcode::gated: {
      const View y = in.view(), out = in.view();
      const int64_t f = in.count();
      if (!in.right(same_shape(x, y) && same_shape(x, out) && f < kActivations)) return;
      wrote(out);
      rows_of(x, [&](int64_t r) { k.gated(int(f), x.row(r), y.row(r), out.row(r), x.cols); });
      return;
    }
    case Opcode::xielu: {
      const View out = in.view();
      const float ap = in.real(), an = in.real(), beta = in.real(), eps = in.real();
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c++) {
          const float v = x.row(r)[c];
          out.row(r)[c] = v > 0 ? ap * v * v + beta * v : (std::expm1(std::min(v, eps)) - v) * an + beta * v;
        }
      });
      return;
    }
    case Opcode::add: {
      const View out = in.view();
      const float keep = in.real(), scale = in.real();
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      rows_of(x, [&](int64_t r) { k.axpy(x.row(r), out.row(r), keep, scale, x.cols); });
      return;
    }
    case Opcode::multiply: {
      const View y = in.view(), out = in.view();
      if (!in.right(same_shape(x, y) && same_shape(x, out))) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c++) out.row(r)[c] = x.row(r)[c] * y.row(r)[c];
      });
      return;
    }
    case Opcode::scaleGroups: {
      const View factors = in.view(), out = in.view();
      const int64_t size = in.count(1);
      if (!in.right(same_shape(x, out) && factors.rows == x.rows && factors.cols > (x.cols - 1) / size)) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c++) out.row(r)[c] = x.row(r)[c] * factors.row(r)[c / size];
      });
      return;
    }
    case Opcode::affine: {
      const View out = in.view();
      const float* scale = in.values(x.cols);
      const float* bias = in.values(x.cols);
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c++) out.row(r)[c] = x.row(r)[c] * (scale ? scale[c] : 1.0f) + (bias ? bias[c] : 0.0f);
      });
      return;
    }
    case Opcode::scale: {
      const View out = in.view();
      const float scale = in.real();
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c++) out.row(r)[c] = x.row(r)[c] * scale;
      });
      return;
    }
    case Opcode::clamp: {
      const View out = in.view();
      const float low = in.real(), high = in.real();
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c++) {
          const float v = x.row(r)[c];
          out.row(r)[c] = v < low ? low : (v > high ? high : v);  // NaN stays
        }
      });
      return;
    }
    case Opcode::softcap: {
      const View out = in.view();
      const float cap = in.real();
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      rows_of(x, [&](int64_t r) {
        for (int64_t c = 0; c < x.cols; c++) out.row(r)[c] = cap * std::tanh(x.row(r)[c] / cap);
      });
      return;
    }
    default: {  // copy
      const View out = in.view();
      if (!in.right(same_shape(x, out))) return;
      wrote(out);
      rows_of(x, [&](int64_t r) { std::memmove(out.row(r), x.row(r), size_t(x.cols) * 4); });
      return;
    }
  }
}

void Engine::start(const double* commands, int64_t count) {
  pool_.post([this, list = std::vector<double>(commands, commands + count)] {
    if (!wrong_.empty() || thrown_) return;
    try {
      wrong_ = interpret(list.data(), int64_t(list.size()));
    } catch (...) {
      thrown_ = std::current_exception();
    }
  });
}

std::string Engine::finish() {
  wait();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  return std::exchange(wrong_, {});
}

std::string Engine::interpret(const double* commands, int64_t count) {
  quantised_.data = nullptr;
  const double *at = commands, *end = commands + count;
  while (at < end) {
    const int code = opcode_at(at, end);
    if (code < 0) return "unknown command " + std::to_string(at[0]);
    Reader in{at + 2, at + 2 + int64_t(at[1]), this};
    at = in.end;
    switch (Opcode(code)) {
      case Opcode::embed: embed(in); break;
      case Opcode::rope: rope(in); break;
      case Opcode::attend: attend(in); break;
      case Opcode::append: append(in); break;
      case Opcode::linear: linears(in, at, end); break;
      case Opcode::softmax:
      case Opcode::keepGroups:
      case Opcode::topK:
      case Opcode::gather:
      case Opcode::normaliseRows:
      case Opcode::l2Norm: routing(code, in); break;
      case Opcode::expertLinear: expert_linear(in, at, end); break;
      case Opcode::combine: combine(in); break;
      case Opcode::headLinear: head_linear(in); break;
      case Opcode::causalConv: causal_conv(in); break;
      case Opcode::deltaRule: delta_rule(in); break;
      default: elementwise(code, in); break;
    }
    if (in.broken) return "arguments of command " + std::to_string(code);
  }
  return {};
}

}  // namespace kvad
