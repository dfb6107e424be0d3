// An engine with tensors, weights and states of random values, and a list of commands for it. Between its tensors, and
// between their rows, lies memory that no command may touch: a sanitizer is told so, and without one what stands there is
// compared afterwards.
#pragma once
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check.h"

namespace kvad {

struct Tensor {
  int64_t first, rows, cols, stride;
};

class Lists {
 public:
  Lists(const Kernels* kernels, int threads, bool dequantise, Random random, bool guarded = true);
  ~Lists();
  Lists(const Lists&) = delete;
  Lists& operator=(const Lists&) = delete;

  Random random;
  Tensor tensor(int64_t rows, int64_t cols, float scale = 1);
  Tensor ids(int64_t rows, int64_t cols, int64_t least, int64_t most);
  // The same rows, fewer columns.
  Tensor columns(const Tensor& of, int64_t from, int64_t cols) const { return {of.first + from, of.rows, cols, of.stride}; }
  int weight(Kind kind, int64_t count, int64_t rows, int64_t cols);
  int vector(int64_t length);
  // Of so many rows that have been written.
  int state(int64_t width, bool half, int64_t rows);

  Lists& begin(const char* opcode);
  Lists& number(double value) { list.push_back(value); return *this; }
  Lists& tensor_at(const Tensor& tensor);
  // The number of a weight, vector or state.
  Lists& id(int value) { id_at.push_back(list.size()); return number(value); }
  Lists& vector_or_none(int64_t length) { return random.bits() % 2 ? id(vector(length)) : number(-1); }
  void end();

  std::string run() { return run(list); }
  std::string run(const std::vector<double>& commands) {
    engine_.start(commands.data(), int64_t(commands.size()));
    return engine_.finish();
  }
  // What all tensors and states hold.
  std::vector<float> result();
  bool untouched();

  std::vector<double> list;
  // Where arguments stand in the list, and where its commands begin.
  std::vector<size_t> tensors_at, id_at, commands_at;
  static constexpr int64_t kArenaFloats = 1 << 16;

 private:
  Tensor place(int64_t rows, int64_t cols);
  Engine engine_;
  int64_t top_ = 0;
  std::vector<Tensor> tensors_;
  std::set<int64_t> integers_;  // where those begin that hold ids
  std::vector<std::pair<int, int64_t>> states_;  // and their rows
};

}  // namespace kvad
