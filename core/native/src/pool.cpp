#include "pool.h"

#include <chrono>
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

}  // namespace

Pool::Pool(int threads) {
  for (int t = 1; t < threads; t++) workers_.emplace_back([this, t] { work(t); });
}

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true);
  }
  wake_.notify_all();
  for (auto& worker : workers_) worker.join();
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

void Pool::run_raw(int64_t pieces, Body body, const void* context) {
  if (pieces <= 0) return;
  if (pieces == 1 || workers_.empty()) {
    for (int64_t piece = 0; piece < pieces; piece++) body(context, piece, 0);
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
    body(context, piece, 0);
    done_.fetch_add(1, std::memory_order_acq_rel);
  }
  for (Backoff backoff; done_.load(std::memory_order_acquire) != pieces;) backoff.pause();
}

void Pool::work(int thread) {
  uint32_t seen = 0;
  for (;;) {
    const auto since = std::chrono::steady_clock::now();
    Backoff backoff;
    while (epoch_.load(std::memory_order_acquire) == seen && !stop_.load(std::memory_order_acquire)) {
      backoff.pause();
      if (backoff.turns() % 64 == 0 && std::chrono::steady_clock::now() - since > kAwake) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, [&] { return epoch_.load(std::memory_order_seq_cst) != seen || stop_.load(); });
        asleep_.fetch_sub(1, std::memory_order_seq_cst);
      }
    }
    if (stop_.load(std::memory_order_acquire)) return;
    seen = epoch_.load(std::memory_order_acquire);
    int64_t piece;
    while (take(seen, piece)) {
      body_(context_, piece, thread);
      done_.fetch_add(1, std::memory_order_acq_rel);
    }
  }
}

}  // namespace kvad
