#include "pool.h"

#include <chrono>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kvad {
namespace {

inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins, then gives the core to whoever wants it: beside a busy process a spinning thread would starve the very
// thread that it waits for.
class Backoff {
 public:
  void pause() {
    if (++turns_ < 256) relax();
    else std::this_thread::yield();
  }
  int turns() const { return turns_; }

 private:
  int turns_ = 0;
};

constexpr auto kAwake = std::chrono::milliseconds(2);

// Of which pool this thread leads a task.
thread_local const Pool* led = nullptr;

}  // namespace

Pool::Pool(int threads) {
  try {
    for (int t = 1; t < threads; t++) workers_.emplace_back([this, t] { work(t); });
  } catch (...) {
    end();  // a thread that nobody joins would end the process
    throw;
  }
}

Pool::~Pool() {
  finish();
  end();
}

void Pool::end() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true);
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void Pool::post(std::function<void()> task) {
  if (workers_.empty()) {
    task();
    return;
  }
  bool wake;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
    posted_.fetch_add(1, std::memory_order_release);
    wake = asleep_.load(std::memory_order_relaxed) > 0;
  }
  if (wake) wake_.notify_all();
}

void Pool::finish() {
  uint32_t seen = epoch_.load(std::memory_order_relaxed) - 1u;  // the job under way is taken part in
  Backoff backoff;
  while (finished_.load(std::memory_order_acquire) != posted_.load(std::memory_order_relaxed)) {
    if (lead(0) || help(0, seen)) backoff = Backoff();
    else backoff.pause();
  }
}

// Runs the next task, where there is one that nobody runs.
bool Pool::lead(int thread) {
  if (!is_task_waiting() || is_led_.exchange(true, std::memory_order_acquire)) return false;
  std::function<void()> task;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!tasks_.empty()) {
      task = std::move(tasks_.front());
      tasks_.pop_front();
      begun_.fetch_add(1, std::memory_order_release);
    }
  }
  const bool found = bool(task);
  if (found) {
    leader_ = thread;
    led = this;
    task();
    led = nullptr;
    task = nullptr;  // what it holds is gone before it counts as finished
  }
  is_led_.store(false, std::memory_order_release);
  if (found) finished_.fetch_add(1, std::memory_order_release);
  return found;
}

// A ticket of an earlier job has no pieces left, so a late thread takes nothing and reads nothing of this job.
bool Pool::take(uint32_t epoch, int64_t& piece) {
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  for (;;) {
    const uint32_t left = uint32_t(ticket);
    if (uint32_t(ticket >> 32) != epoch || left == 0) return false;
    if (ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel)) {
      piece = pieces_ - left;
      return true;
    }
  }
}

// Takes pieces of the job under way, unless this thread has seen it to its end. `seen` is a line that changes once a job.
bool Pool::help(int thread, uint32_t& seen) {
  const uint32_t epoch = epoch_.load(std::memory_order_acquire);
  if (epoch == seen) return false;
  seen = epoch;
  int64_t piece;
  while (take(epoch, piece)) {
    body_(context_, piece, thread);
    done_.fetch_add(1, std::memory_order_acq_rel);
  }
  return true;
}

void Pool::run_raw(int64_t pieces, Body body, const void* context) {
  if (pieces <= 0) return;
  if (workers_.empty()) {
    for (int64_t piece = 0; piece < pieces; piece++) body(context, piece, 0);
    return;
  }
  if (led != this) {
    post([=] { run_raw(pieces, body, context); });
    finish();
    return;
  }
  if (pieces == 1) {
    body(context, 0, leader_);
    return;
  }
  body_ = body;
  context_ = context;
  pieces_ = pieces;
  done_.store(0, std::memory_order_relaxed);
  const uint32_t epoch = epoch_.load(std::memory_order_relaxed) + 1u;
  ticket_.store(uint64_t(epoch) << 32 | uint64_t(pieces), std::memory_order_release);
  epoch_.store(epoch, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) > 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    wake_.notify_all();
  }
  int64_t piece;
  while (take(epoch, piece)) {
    body(context, piece, leader_);
    done_.fetch_add(1, std::memory_order_acq_rel);
  }
  for (Backoff backoff; done_.load(std::memory_order_acquire) != pieces;) backoff.pause();
}

void Pool::work(int thread) {
  uint32_t seen = 0;
  auto since = std::chrono::steady_clock::now();
  Backoff backoff;
  while (!stop_.load(std::memory_order_acquire)) {
    if (lead(thread) || help(thread, seen)) {
      since = std::chrono::steady_clock::now();
      backoff = Backoff();
      continue;
    }
    backoff.pause();
    if (backoff.turns() % 64 != 0 || std::chrono::steady_clock::now() - since < kAwake) continue;
    std::unique_lock<std::mutex> lock(mutex_);
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(lock, [&] { return epoch_.load(std::memory_order_seq_cst) != seen || is_task_waiting() || stop_.load(); });
    asleep_.fetch_sub(1, std::memory_order_seq_cst);
  }
}

}  // namespace kvad
