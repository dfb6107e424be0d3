// Mixers with a state of fixed size: causal convolution and the gated delta rule.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "reader.h"

namespace kvad {

// The rows of one sequence, and its state.
struct Engine::Part { int64_t start, length; State* state; };

std::vector<Engine::Part> Engine::parts_of(Reader& in, int64_t rows) {
  std::vector<Part> parts;
  for (int64_t left = in.count(); left > 0 && !in.broken; left--) {
    Part part{in.count(), in.count(), nullptr};
    part.state = in.state();
    if (part.start + part.length > rows) in.broken = true;
    parts.push_back(part);
  }
  return parts;
}

// `width`: of a state of f32, which has one row.
bool Engine::all_hold(const std::vector<Part>& parts, int64_t width) {
  return std::all_of(parts.begin(), parts.end(), [width](const Part& part) {
    return part.state && !part.state->half && part.state->capacity >= 1 && part.state->width == width;
  });
}

void Engine::causal_conv(Reader& in) {
  const View x = in.view(), out = in.view();
  const Vector* weights = in.vector();
  const float* bias = in.values(x.cols);
  const int64_t kernel = in.count(1), past = kernel - 1;
  const std::vector<Part> parts = parts_of(in, x.rows);
  if (!in.right(weights && weights->length / x.cols >= kernel && same_shape(x, out) && all_hold(parts, x.cols * past))) return;
  const float* weight = weights->values.as<float>();
  wrote(out);
  for (const Part& part : parts) {
    const int64_t start = part.start, length = part.length;
    State& state = *part.state;
    const int64_t each = 256;  // channels a piece
    pool_.run(length < 8 ? 1 : (x.cols + each - 1) / each, [&](int64_t piece, int) {
      const int64_t first = length < 8 ? 0 : piece * each, last = length < 8 ? x.cols : std::min(x.cols, first + each);
      for (int64_t t = 0; t < length; t++) {
        for (int64_t c = first; c < last; c++) {
          float sum = bias ? bias[c] : 0.0f;
          for (int64_t j = 0; j < kernel; j++) {
            const int64_t at = t - past + j;
            const float value = at >= 0 ? x.row(start + at)[c] : state.memory.as<float>()[c * past + past + at];
            sum += weight[c * kernel + j] * value;
          }
          out.row(start + t)[c] = sum;
        }
      }
      for (int64_t c = first; c < last; c++) {
        float* window = state.memory.as<float>() + c * past;
        const int64_t stay = past > length ? past - length : 0;
        for (int64_t j = 0; j < stay; j++) window[j] = window[j + length];
        for (int64_t j = stay; j < past; j++) window[j] = x.row(start + length - past + j)[c];
      }
    });
  }
}

// S [key_dim, value_dim] is walked row by row twice a token: fade and collect what the key reads, then write and read.
void Engine::delta_rule(Reader& in) {
  const View q = in.view(), k = in.view(), v = in.view(), decay = in.view(), beta = in.view(), out = in.view();
  const int64_t key_heads = in.count(1), heads = in.count(1), kd = in.count(1), vd = in.count(1);
  const bool rows = same_shape(k, q) && v.rows == q.rows && decay.rows == q.rows && same_shape(beta, decay) && same_shape(out, v);
  const bool cols = heads % key_heads == 0 && is_product(key_heads, kd, q.cols) && is_product(heads, vd, v.cols) && decay.cols == heads;
  const std::vector<Part> parts = parts_of(in, q.rows);
  if (!in.right(rows && cols && all_hold(parts, v.cols * kd))) return;
  wrote(out);
  pool_.run(int64_t(parts.size()) * heads, [&](int64_t piece, int thread) {
    const Part& part = parts[size_t(piece / heads)];
    const int64_t h = piece % heads, key = h / (heads / key_heads) * kd;
    float* state = part.state->memory.as<float>() + h * kd * vd;
    Buffer& scratch = scratch_[size_t(thread)];
    scratch.reserve(size_t(2 * vd) * 4);
    float *error = scratch.as<float>(), *read = error + vd;
    for (int64_t r = part.start; r < part.start + part.length; r++) {
      const float fade = std::exp(decay.row(r)[h]), write = beta.row(r)[h];
      const float *kr = k.row(r) + key, *qr = q.row(r) + key, *vr = v.row(r) + h * vd;
      std::memset(error, 0, size_t(2 * vd) * 4);
      for (int64_t i = 0; i < kd; i++) {
        float* row = state + i * vd;
        for (int64_t j = 0; j < vd; j++) row[j] *= fade;
        kernels_->axpy(row, error, 1.0f, kr[i], vd);
      }
      for (int64_t j = 0; j < vd; j++) error[j] = (vr[j] - error[j]) * write;
      for (int64_t i = 0; i < kd; i++) {
        float* row = state + i * vd;
        kernels_->axpy(error, row, 1.0f, kr[i], vd);
        kernels_->axpy(row, read, 1.0f, qr[i], vd);
      }
      std::memcpy(out.row(r) + h * vd, read, size_t(vd) * 4);
    }
  });
}

}  // namespace kvad
