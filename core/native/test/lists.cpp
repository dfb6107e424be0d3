#include "lists.h"

#include <cstdio>
#include <cstring>

#include "half.h"
#include "opcodes.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) (void)(at), (void)(bytes)
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) (void)(at), (void)(bytes)
#endif

namespace kvad {
namespace {

constexpr float kBetween = 12345.5f;

int code_of(const char* opcode) {
  const std::string names = opcode_names(), name = std::string(opcode) + ",";
  int code = 0;
  for (size_t at = 0; at < names.size(); at = names.find(',', at) + 1, code++)
    if (names.compare(at, name.size(), name) == 0) return code;
  std::printf("no opcode %s\n", opcode);
  std::abort();
}

}  // namespace

Lists::Lists(const Kernels* kernels, int threads, bool dequantise, Random seed, bool guarded)
    : random(seed), engine_(threads, kernels, size_t(kArenaFloats) * 4) {
  engine_.dequantise = dequantise;
  for (int64_t i = 0; i < kArenaFloats; i++) engine_.arena()[i] = kBetween;
  if (guarded) ASAN_POISON_MEMORY_REGION(engine_.arena(), size_t(kArenaFloats) * 4);
}

Lists::~Lists() {
  // whoever gets this address next knows nothing of it
  ASAN_UNPOISON_MEMORY_REGION(engine_.arena(), size_t(kArenaFloats) * 4);
}

// Rows begin at even elements: a sanitizer tells memory apart by 8 bytes.
Tensor Lists::place(int64_t rows, int64_t cols) {
  const int64_t stride = (cols + 1) / 2 * 2 + (random.bits() % 2 ? 0 : 2 * random.from(1, 4));
  const Tensor made{top_, rows, cols, stride};
  top_ = (top_ + rows * stride + 15) / 16 * 16 + 16;
  if (top_ > kArenaFloats) { std::printf("the arena of the checks is too small\n"); std::abort(); }
  for (int64_t r = 0; r < rows; r++) ASAN_UNPOISON_MEMORY_REGION(engine_.arena() + made.first + r * stride, size_t(cols) * 4);
  tensors_.push_back(made);
  return made;
}

Tensor Lists::tensor(int64_t rows, int64_t cols, float scale) {
  const Tensor made = place(rows, cols);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < cols; c++) engine_.arena()[made.first + r * made.stride + c] = random.value(scale);
  return made;
}

Tensor Lists::ids(int64_t rows, int64_t cols, int64_t least, int64_t most) {
  const Tensor made = place(rows, cols);
  integers_.insert(made.first);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < cols; c++) {
      const int32_t id = int32_t(random.from(least, most));
      std::memcpy(engine_.arena() + made.first + r * made.stride + c, &id, 4);
    }
  return made;
}

int Lists::weight(Kind kind, int64_t count, int64_t rows, int64_t cols) {
  Weight made;
  made.kind = kind;
  made.count = count;
  made.rows = rows;
  made.cols = cols;
  made.owned.resize(size_t(count) * made.bytes_each());
  for (int64_t i = 0; i < count; i++) {
    const auto values = random.values(rows * cols);
    uint8_t* to = made.owned.as<uint8_t>() + size_t(i) * made.bytes_each();
    if (kind == Kind::Q8 || kind == Kind::Q4) quantise_matrix(engine_.pool(), Kind::F32, values.data(), rows, cols, kind, to);
    else if (kind == Kind::F32) std::memcpy(to, values.data(), values.size() * 4);
    else std::memcpy(to, narrowed(values, kind).data(), values.size() * 2);
  }
  return engine_.add_weight(std::move(made));
}

int Lists::vector(int64_t length) { return engine_.add_vector(random.values(length).data(), length); }

int Lists::state(int64_t width, bool half, int64_t rows) {
  const int id = engine_.add_state(width, half, 0);
  engine_.reserve_state(id, rows);
  State& made = engine_.state(id);
  for (int64_t i = 0; i < rows * width; i++) {
    if (half) made.memory.as<uint16_t>()[i] = f32_to_f16(random.value());
    else made.memory.as<float>()[i] = random.value();
  }
  states_.push_back({id, rows});
  return id;
}

Lists& Lists::begin(const char* opcode) {
  commands_at.push_back(list.size());
  return number(code_of(opcode)).number(0);
}

Lists& Lists::tensor_at(const Tensor& tensor) {
  tensors_at.push_back(list.size());
  return number(double(tensor.first)).number(double(tensor.rows)).number(double(tensor.cols)).number(double(tensor.stride));
}

void Lists::end() { list[commands_at.back() + 1] = double(list.size() - commands_at.back() - 2); }

std::vector<float> Lists::result() {
  std::vector<float> all;
  for (const Tensor& t : tensors_)
    for (int64_t r = 0; r < t.rows; r++)
      for (int64_t c = 0; c < t.cols; c++) {
        const float* at = engine_.arena() + t.first + r * t.stride + c;
        int32_t id;
        std::memcpy(&id, at, 4);
        all.push_back(integers_.count(t.first) ? float(id) : *at);
      }
  for (const auto& [id, rows] : states_) {
    const State& held = engine_.state(id);
    for (int64_t i = 0; i < rows * held.width; i++) all.push_back(held.half ? f16_to_f32(held.memory.as<uint16_t>()[i]) : held.memory.as<float>()[i]);
  }
  return all;
}

bool Lists::untouched() {
#if !defined(__SANITIZE_ADDRESS__)
  std::vector<bool> ours(size_t(kArenaFloats), false);
  for (const Tensor& t : tensors_)
    for (int64_t r = 0; r < t.rows; r++)
      for (int64_t c = 0; c < t.cols; c++) ours[size_t(t.first + r * t.stride + c)] = true;
  const float* arena = engine_.arena();
  for (int64_t i = 0; i < kArenaFloats; i++)
    if (!ours[size_t(i)] && arena[i] != kBetween) return false;
#endif
  return true;
}

}  // namespace kvad
