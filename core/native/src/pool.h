// Persistent threads that share the pieces of one job at a time.
//
// A job is `pieces` calls of a function. Threads take pieces from a shared counter, the caller among them, and the job is
// over when all pieces are done: nobody waits for a thread that has not taken one, so a core that another process has
// taken away costs its share and not the step. Between jobs the threads spin for a while (a step's ops follow each other
// within microseconds), then sleep on a futex: an idle pool costs nothing.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace kvad {

class Pool {
 public:
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return int(workers_.size()) + 1; }

  // Calls body(context, piece, thread) for each piece; `thread` is 0 (the caller) to threads() - 1.
  template <class F> void run(int64_t pieces, const F& body) {
    run_raw(pieces, [](const void* f, int64_t piece, int thread) { (*static_cast<const F*>(f))(piece, thread); }, &body);
  }

 private:
  using Body = void (*)(const void*, int64_t, int);
  void run_raw(int64_t pieces, Body body, const void* context);
  void work(int thread);
  bool take(uint32_t epoch, int64_t& piece);

  // Written by the caller before it issues tickets, read by a thread that holds one.
  Body body_ = nullptr;
  const void* context_ = nullptr;
  int64_t pieces_ = 0;

  alignas(64) std::atomic<uint64_t> ticket_{0};  // epoch << 32 | pieces not yet taken
  alignas(64) std::atomic<int64_t> done_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<int> asleep_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
};

}  // namespace kvad
