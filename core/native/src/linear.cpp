// out = x Wᵀ + bias. A piece is a run of groups of 16 weight rows; several products of the same input (q, k and v; gate
// and up) are one job. Few rows of x: matrix-vector kernels that read each weight once. Many: a panel of weights is
// widened once and stays in the cache while all rows of x pass.
#include <algorithm>
#include <cstring>

#include "engine.h"

namespace kvad {
namespace {

constexpr int64_t kPieceBytes = 32 * 1024;  // decode: about 2 microseconds of reading
constexpr int64_t kMostBytes = 512 * 1024;
constexpr int64_t kStreams = 4;
constexpr int64_t kGemmGroups = 4;
constexpr int64_t kGemmRows = 6;            // from so many rows on the panel pays (dense)
constexpr int64_t kPanelDepth = 256;

bool quantised(Kind kind) { return kind == Kind::Q8 || kind == Kind::Q4; }

void add_bias(const View& out, int64_t first, int64_t count, const float* bias) {
  if (!bias) return;
  for (int64_t r = 0; r < out.rows; r++)
    for (int64_t c = first; c < first + count; c++) out.row(r)[c] += bias[c];
}

}  // namespace

void Engine::quantise_rows(View x) {
  if (quantised_.data == x.data && quantised_.rows == x.rows && quantised_.cols == x.cols && quantised_.stride == x.stride) return;
  const int64_t blocks = blocks_of(x.cols), all = blocks * x.rows;
  q_.reserve(size_t(all) * kBlock);
  scale_.reserve(size_t(all) * 4);
  over_.reserve(size_t(all) * 4);
  const auto one = [&](int64_t r) {
    kernels_->quantize(x.row(r), x.cols, q_.as<int8_t>() + r * blocks * kBlock, scale_.as<float>() + r * blocks, over_.as<int32_t>() + r * blocks);
  };
  if (x.rows < 4)
    for (int64_t r = 0; r < x.rows; r++) one(r);
  else
    pool_.run((x.rows + 7) / 8, [&](int64_t piece, int) {
      for (int64_t r = piece * 8; r < std::min(x.rows, piece * 8 + 8); r++) one(r);
    });
  quantised_ = x;
}

void Engine::quant_piece(View x, const LinearPart& part, int64_t first, int64_t groups, int thread) {
  const Weight& w = *part.weight;
  const QuantRows rows = quant_rows();
  const size_t bytes = group_bytes(w.kind, rows.blocks);
  Buffer& scratch = scratch_[size_t(thread)];
  scratch.reserve(size_t(x.rows) * kGroup * 4);
  float* spare = scratch.as<float>();
  const auto gemv = w.kind == Kind::Q8 ? kernels_->gemv_q8 : kernels_->gemv_q4;
  const auto gemm = w.kind == Kind::Q8 ? kernels_->gemm_q8 : kernels_->gemm_q4;
  const uint8_t* from = w.matrix(part.index);
  const int64_t whole = std::min(first + groups, w.rows / kGroup);  // groups whose rows all exist
  if (x.rows == 1 && whole > first) gemv(from + size_t(first) * bytes, whole - first, rows, part.row, part.out.data + first * kGroup);
  for (int64_t g = x.rows == 1 ? whole : first; g < first + groups; g++) {
    const int64_t n = std::min<int64_t>(kGroup, w.rows - g * kGroup);
    float* out = n == kGroup ? part.out.data + g * kGroup : spare;
    gemm(from + size_t(g) * bytes, rows, part.row, x.rows, out, n == kGroup ? part.out.stride : kGroup);
    if (n < kGroup)
      for (int64_t r = 0; r < x.rows; r++) std::memcpy(part.out.row(r) + g * kGroup, spare + r * kGroup, size_t(n) * 4);
  }
  add_bias(part.out, first * kGroup, std::min(w.rows - first * kGroup, groups * kGroup), part.bias);
}

// Four rows at once, a quarter of the piece apart: see the kernels for why.
void Engine::few_dense_rows(View x, const LinearPart& part, int64_t from, int64_t to) {
  const Weight& w = *part.weight;
  const uint8_t* data = w.matrix(part.index);
  const size_t row_bytes = size_t(w.cols) * dense_bytes(w.kind);
  const int64_t quarter = (to - from) / 4, apart = quarter * w.cols;
  for (int64_t r = 0; r < x.rows; r++) {
    float* out = part.out.row(r);
    for (int64_t o = from; o < from + quarter; o++) {
      const uint8_t* row = data + size_t(o) * row_bytes;
      float y[4];
      if (w.kind == Kind::F32) kernels_->dot4_f32(reinterpret_cast<const float*>(row), apart, x.row(r), w.cols, y);
      else if (w.kind == Kind::BF16) kernels_->dot4_bf16(reinterpret_cast<const uint16_t*>(row), apart, x.row(r), w.cols, y);
      else kernels_->dot4_f16(reinterpret_cast<const uint16_t*>(row), apart, x.row(r), w.cols, y);
      for (int64_t i = 0; i < 4; i++) out[o + i * quarter] = y[i];
    }
    for (int64_t o = from + 4 * quarter; o < to; o++) {
      const uint8_t* row = data + size_t(o) * row_bytes;
      out[o] = w.kind == Kind::F32    ? kernels_->dot_f32(reinterpret_cast<const float*>(row), x.row(r), w.cols)
               : w.kind == Kind::BF16 ? kernels_->dot_bf16(reinterpret_cast<const uint16_t*>(row), x.row(r), w.cols)
                                      : kernels_->dot_f16(reinterpret_cast<const uint16_t*>(row), x.row(r), w.cols);
    }
  }
  add_bias(part.out, from, to - from, part.bias);
}

void Engine::dense_piece(View x, const LinearPart& part, int64_t first, int64_t groups, int thread) {
  const Weight& w = *part.weight;
  const uint8_t* data = w.matrix(part.index);
  const int64_t from = first * kGroup, to = std::min(w.rows, (first + groups) * kGroup);
  if (x.rows < kGemmRows && !quantised(w.kind)) return few_dense_rows(x, part, from, to);
  Buffer& scratch = scratch_[size_t(thread)];
  const int64_t panel_floats = groups * kGroup * kPanelDepth;
  const bool unpack = quantised(w.kind);  // the control arm: weights widened to f32, activations as they are
  const int64_t row_floats = unpack ? kGroup * w.cols : 0;
  scratch.reserve(size_t(panel_floats + groups * x.rows * kGroup + row_floats) * 4 + 64);
  float* panels = scratch.as<float>();
  float* spare = panels + panel_floats;
  float* rows = spare + groups * x.rows * kGroup;
  for (int64_t k = 0; k < w.cols; k += kPanelDepth) {
    const int64_t depth = std::min(kPanelDepth, w.cols - k);
    for (int64_t g = 0; g < groups; g++) {
      const int64_t o = from + g * kGroup, n = std::min<int64_t>(kGroup, to - o);
      float* panel = panels + g * kGroup * kPanelDepth;
      if (unpack) {
        for (int64_t r = 0; r < n; r++) dequantise_row(w, part.index, o + r, rows + r * w.cols);
        kernels_->pack(Kind::F32, rows + k, w.cols, n, depth, panel);
      } else {
        kernels_->pack(w.kind, data + size_t(o * w.cols + k) * dense_bytes(w.kind), w.cols, n, depth, panel);
      }
    }
    for (int64_t r = 0; r < x.rows; r += 12) {
      const int64_t m = std::min<int64_t>(12, x.rows - r);
      for (int64_t g = 0; g < groups; g++) {
        const bool whole = from + (g + 1) * kGroup <= to;
        float* out = whole ? part.out.row(r) + from + g * kGroup : spare + (g * x.rows + r) * kGroup;
        kernels_->gemm_f32(panels + g * kGroup * kPanelDepth, kGroup, depth, x.row(r) + k, x.stride, m, out, whole ? part.out.stride : kGroup, k == 0);
      }
    }
  }
  for (int64_t g = 0; g < groups; g++) {
    const int64_t o = from + g * kGroup;
    if (o + kGroup <= to) continue;
    for (int64_t r = 0; r < x.rows; r++) std::memcpy(part.out.row(r) + o, spare + (g * x.rows + r) * kGroup, size_t(to - o) * 4);
  }
  add_bias(part.out, from, to - from, part.bias);
}

int64_t Engine::group_bytes_of(const Weight& w) const {
  if (is_quantised(w)) return int64_t(group_bytes(w.kind, blocks_of(w.cols)));
  return kGroup * w.cols * int64_t(quantised(w.kind) ? 4 : dense_bytes(w.kind));
}

// Decode reads each weight once, and a thread reads fastest where it goes on: its pieces are long while much is left, and
// short at the end, so that nobody waits long for the last one. Four groups are read along four streams at once, so it is
// fours of them while there are enough for everybody.
void Engine::cut(const LinearPart* parts, int64_t count) {
  pieces_.clear();
  int64_t left = 0;
  for (int64_t i = 0; i < count; i++) left += groups_of(parts[i].weight->rows) * group_bytes_of(*parts[i].weight);
  for (int64_t i = 0; i < count; i++) {
    const int64_t bytes = group_bytes_of(*parts[i].weight), groups = groups_of(parts[i].weight->rows);
    for (int64_t first = 0; first < groups;) {
      const int64_t share = std::min(kMostBytes, std::max(kPieceBytes, left / (pool_.threads() + 1)));
      int64_t n = std::max<int64_t>(1, share / bytes);
      if (groups - first >= kStreams * pool_.threads()) n = (n + kStreams - 1) / kStreams * kStreams;
      n = std::min(groups - first, n);
      pieces_.push_back({i, first, n});
      first += n;
      left -= n * bytes;
    }
  }
}

void Engine::linear(View x, const LinearPart* parts, int64_t count) {
  bool codes = false;
  int64_t rows = 0;
  for (int64_t i = 0; i < count; i++) {
    codes = codes || is_quantised(*parts[i].weight);
    rows += parts[i].out.rows;
  }
  if (codes) quantise_rows(x);
  if (rows >= kGemmRows * count) {
    // so many groups that a tile of x is used several times from the cache
    pieces_.clear();
    for (int64_t i = 0; i < count; i++)
      for (int64_t first = 0, groups = groups_of(parts[i].weight->rows); first < groups; first += kGemmGroups)
        pieces_.push_back({i, first, std::min(kGemmGroups, groups - first)});
  } else {
    cut(parts, count);
  }
  pool_.run(int64_t(pieces_.size()), [&](int64_t piece, int thread) {
    const Piece& p = pieces_[size_t(piece)];
    const LinearPart& part = parts[p.part];
    const View rows_of_x{x.row(part.row), part.out.rows, x.cols, x.stride};
    if (is_quantised(*part.weight)) quant_piece(rows_of_x, part, p.first, p.groups, thread);
    else dense_piece(rows_of_x, part, p.first, p.groups, thread);
  });
}

}  // namespace kvad
