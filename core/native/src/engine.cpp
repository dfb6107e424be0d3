#include "engine.h"

#include <sys/mman.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "half.h"

namespace kvad {

Buffer::~Buffer() { std::free(data_); }
Buffer::Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
void Buffer::resize(size_t bytes) {
  std::free(data_);
  data_ = nullptr;
  bytes_ = 0;
  if (bytes == 0) return;
  const size_t align = bytes >= (size_t(2) << 20) ? size_t(4096) : size_t(64);
  const size_t rounded = (bytes + align - 1) / align * align;
  data_ = std::aligned_alloc(align, rounded);
  if (!data_) throw std::bad_alloc();
  bytes_ = rounded;
}

Engine::Engine(int threads, const Kernels* kernels, size_t arena_bytes) : arena_bytes_(arena_bytes), kernels_(kernels), pool_(threads) {
  void* memory = mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  arena_owner_ = std::shared_ptr<void>(memory, [arena_bytes](void* at) { munmap(at, arena_bytes); });
  arena_ = static_cast<float*>(memory);
  scratch_.resize(size_t(threads));
  seen_.resize(size_t(threads));
}

int Engine::add_weight(Weight&& weight) {
  weight.alive = true;
  weights_.push_back(std::move(weight));
  Weight& kept = weights_.back();
  if (kept.owned.bytes() > 0) kept.data = kept.owned.as<uint8_t>();
  else warmer_.push(kept.data, size_t(kept.count) * kept.bytes_each());
  return int(weights_.size()) - 1;
}

int Engine::add_vector(const float* values, int64_t length) {
  Vector vector{Buffer(size_t(length) * 4 + 64), length};
  if (length > 0) std::memcpy(vector.values.as<float>(), values, size_t(length) * 4);
  vectors_.push_back(std::move(vector));
  return int(vectors_.size()) - 1;
}

int Engine::add_state(int64_t width, bool half, float init) {
  State state;
  state.width = width;
  state.half = half;
  state.init = init;
  state.alive = true;
  for (size_t i = 0; i < states_.size(); i++) {
    if (states_[i].alive) continue;
    states_[i] = std::move(state);
    return int(i);
  }
  states_.push_back(std::move(state));
  return int(states_.size()) - 1;
}

void Engine::reserve_state(int id, int64_t rows) {
  State& state = states_[size_t(id)];
  if (rows <= state.capacity) return;
  int64_t capacity = state.capacity > 0 ? state.capacity : 1;
  while (capacity < rows) capacity *= 2;
  Buffer grown(size_t(capacity) * state.row_bytes() + 64);
  const size_t held = size_t(state.capacity) * state.row_bytes();
  if (held > 0) std::memcpy(grown.as<char>(), state.memory.as<char>(), held);
  const int64_t from = state.capacity * state.width, to = capacity * state.width;
  if (state.half) {
    const uint16_t value = f32_to_f16(state.init);
    for (int64_t i = from; i < to; i++) grown.as<uint16_t>()[i] = value;
  } else {
    for (int64_t i = from; i < to; i++) grown.as<float>()[i] = state.init;
  }
  state.memory = std::move(grown);
  state.capacity = capacity;
}

// Anything written over the rows that were quantised makes their codes stale.
void Engine::wrote(const View& view) {
  if (!quantised_.data) return;
  const float* end = view.data + (view.rows - 1) * view.stride + view.cols;
  const float* held = quantised_.data + (quantised_.rows - 1) * quantised_.stride + quantised_.cols;
  if (view.data < held && quantised_.data < end) quantised_.data = nullptr;
}

QuantRows Engine::quant_rows() const {
  return {q_.as<int8_t>(), scale_.as<float>(), over_.as<int32_t>(), blocks_of(quantised_.cols)};
}

}  // namespace kvad
