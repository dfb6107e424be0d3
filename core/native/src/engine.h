// What one loaded model owns natively: scratch, weights, states, threads.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "format.h"
#include "kernels.h"
#include "pool.h"
#include "warm.h"

namespace kvad {

// Memory that starts on a cache line (large blocks on a page).
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t bytes) { resize(bytes); }
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  // Contents are lost when it grows.
  void resize(size_t bytes);
  void reserve(size_t bytes) { if (bytes > bytes_) resize(bytes); }
  template <class T> T* as() { return static_cast<T*>(data_); }
  template <class T> const T* as() const { return static_cast<const T*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

// A matrix, or `count` matrices of one shape one after another. `data` is owned, or belongs to a mapped file that the
// caller keeps alive.
struct Weight {
  Kind kind = Kind::F32;
  int64_t count = 1, rows = 0, cols = 0;
  const uint8_t* data = nullptr;
  Buffer owned;
  bool alive = false;

  size_t bytes_each() const {
    return kind == Kind::Q8 || kind == Kind::Q4 ? quant_bytes(kind, rows, cols) : size_t(rows) * size_t(cols) * dense_bytes(kind);
  }
  const uint8_t* matrix(int64_t index) const { return data + size_t(index) * bytes_each(); }
};

struct State {
  int64_t width = 0, capacity = 0;
  bool half = false;
  float init = 0;
  Buffer memory;
  bool alive = false;

  size_t row_bytes() const { return size_t(width) * (half ? 2 : 4); }
};

struct Vector {
  Buffer values;  // f32
  int64_t length = 0;
};

// A view of activations; f32 or i32.
struct View {
  float* data;
  int64_t rows, cols, stride;
  float* row(int64_t r) const { return data + r * stride; }
};
inline bool same(const View& a, const View& b) { return a.data == b.data && a.rows == b.rows && a.cols == b.cols && a.stride == b.stride; }

class Engine {
 public:
  Engine(int threads, const Kernels* kernels, size_t arena_bytes);
  ~Engine() { wait(); }

  // Runs a list of commands, after those that were started before, while the caller goes on. Until `finish` or `wait`
  // nothing else of the engine may be touched.
  void start(const double* commands, int64_t count);
  void wait() { pool_.finish(); }
  // Waits. Returns an empty string, or what is wrong with a list since the last `finish` (a bug of the caller), behind
  // which nothing was run. Throws what running them threw.
  std::string finish();

  int add_weight(Weight&& weight);
  int add_vector(const float* values, int64_t length);
  int add_state(int64_t width, bool half, float init);
  void reserve_state(int id, int64_t rows);

  float* arena() { return arena_; }
  // Keeps the scratch memory mapped for as long as somebody holds it, an array buffer beyond the engine's life too.
  std::shared_ptr<void> arena_owner() const { return arena_owner_; }
  size_t arena_bytes() const { return arena_bytes_; }
  Weight& weight(int id) { return weights_[size_t(id)]; }
  State& state(int id) { return states_[size_t(id)]; }
  size_t state_count() const { return states_.size(); }
  const Kernels& kernels() const { return *kernels_; }
  Pool& pool() { return pool_; }
  bool dequantise = false;  // the control arm: activations stay f32

 private:
  struct Reader;
  // One product of a job: the rows of x from `row` on, as many as `out` has, by one matrix.
  struct LinearPart {
    const Weight* weight;
    View out;
    const float* bias;
    int64_t index = 0;  // which matrix of the weight
    int64_t row = 0;
  };
  // A product with one matrix of a stack for each of `out`'s rows.
  struct ExpertPart {
    const Weight* weight;
    View out;
    const float* bias;
  };

  std::string interpret(const double* commands, int64_t count);
  void embed(Reader& in);
  void append(Reader& in);
  void linears(Reader& in, const double*& at, const double* end);
  void linear(View x, const LinearPart* parts, int64_t count);
  // `groups` groups of weight rows from `first` on. `x`: the rows of the part.
  void few_dense_rows(View x, const LinearPart& part, int64_t from, int64_t to);
  void dense_piece(View x, const LinearPart& part, int64_t first, int64_t groups, int thread);
  void quant_piece(View x, const LinearPart& part, int64_t first, int64_t groups, int thread);
  int64_t group_bytes_of(const Weight& weight) const;
  void cut(const LinearPart* parts, int64_t count);
  bool is_quantised(const Weight& weight) const { return (weight.kind == Kind::Q8 || weight.kind == Kind::Q4) && !dequantise; }
  void quantise_rows(View x);
  void attend(Reader& in);
  void rope(Reader& in);
  void elementwise(int opcode, Reader& in);
  void routing(int opcode, Reader& in);
  // Products of the same rows with the same experts that follow each other are one job: `next` moves behind the last.
  void expert_linear(Reader& in, const double*& next, const double* end);
  void scatter_experts(View x, View ids, const ExpertPart* parts, int count);
  void combine(Reader& in);
  void head_linear(Reader& in);
  struct Part;
  static std::vector<Part> parts_of(Reader& in, int64_t rows);
  static bool all_hold(const std::vector<Part>& parts, int64_t width);
  void causal_conv(Reader& in);
  void delta_rule(Reader& in);
  // Calls body(row) for each row, shared by the threads where there is enough to do.
  template <class F> void rows_of(const View& view, const F& body) {
    constexpr int64_t alone = 32 * 1024;  // elements that one thread does faster than a hand-over
    if (view.rows * view.cols <= alone) {
      for (int64_t r = 0; r < view.rows; r++) body(r);
      return;
    }
    const int64_t each = view.cols >= alone / 4 ? 1 : alone / 4 / view.cols;
    pool_.run((view.rows + each - 1) / each, [&](int64_t piece, int) {
      const int64_t last = (piece + 1) * each < view.rows ? (piece + 1) * each : view.rows;
      for (int64_t r = piece * each; r < last; r++) body(r);
    });
  }
  void wrote(const View& view);

  std::shared_ptr<void> arena_owner_;
  float* arena_ = nullptr;
  size_t arena_bytes_ = 0;
  std::vector<Weight> weights_;
  std::vector<Vector> vectors_;
  std::vector<State> states_;
  const Kernels* kernels_;
  Pool pool_;
  std::string wrong_;
  std::exception_ptr thrown_;
  Warmer warmer_;
  std::vector<Buffer> scratch_, seen_;  // one a thread
  Buffer partials_;                     // what pieces of attention have seen
  struct Piece {
    int64_t part, first, groups;
  };
  std::vector<Piece> pieces_;  // of the product under way
  std::vector<LinearPart> parts_;

  // The rows quantised last, and where they were read from: q, k and v share one quantisation.
  Buffer q_, scale_, over_;
  View quantised_{nullptr, 0, 0, 0};
  QuantRows quant_rows() const;
  Buffer gathered_, scattered_;  // rows in the order of the matrices that they need
};

// Stored values -> the layout of format.h. `out` has quant_bytes(kind, rows, cols). Parallel over groups of rows.
// Returns the number of blocks that cannot be held: their scale does not fit f16, or a value is no number.
int64_t quantise_matrix(Pool& pool, Kind from, const void* data, int64_t rows, int64_t cols, Kind to, uint8_t* out);
// One row back to f32.
void dequantise_row(const Weight& weight, int64_t matrix, int64_t row, float* out);

}  // namespace kvad
