// Persistent threads that do one list of tasks, and share the pieces of one job at a time.
//
// A task is posted and runs while the caller goes on: a step of a small model is begun before all of it is recorded.
// Tasks run one after the other. Whoever is free leads the next one, the caller among them once it waits in `finish`.
//
// A job is `pieces` calls of a function, made by a task. Threads take pieces from a shared counter, and the job is over
// when all pieces are done: nobody waits for a thread that has not taken one, so a core that another process has taken
// away costs its share and not the step. Between jobs the threads spin for a while (a step's ops follow each other within
// microseconds), then sleep on a futex: an idle pool costs nothing.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace kvad {

class Pool {
 public:
  // Throws std::system_error where the system does not give so many threads.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return int(workers_.size()) + 1; }

  // Runs after what was posted before. Must not throw. One thread at a time may post and finish. With one thread in all,
  // it runs at once.
  void post(std::function<void()> task);
  // Takes part until all that was posted is done.
  void finish();

  // Calls body(context, piece, thread) for each piece; `thread` is 0 to threads() - 1, each in one call at a time. Outside
  // of a task it is one of its own.
  template <class F> void run(int64_t pieces, const F& body) {
    run_raw(pieces, [](const void* f, int64_t piece, int thread) { (*static_cast<const F*>(f))(piece, thread); }, &body);
  }

 private:
  using Body = void (*)(const void*, int64_t, int);
  void run_raw(int64_t pieces, Body body, const void* context);
  void work(int thread);
  void end();
  bool lead(int thread);
  bool help(int thread, uint32_t& seen);
  bool take(uint32_t epoch, int64_t& piece);
  bool is_task_waiting() const { return posted_.load(std::memory_order_acquire) != begun_.load(std::memory_order_acquire); }

  // Written by the leader before it issues tickets, read by a thread that holds one.
  Body body_ = nullptr;
  const void* context_ = nullptr;
  int64_t pieces_ = 0;
  int leader_ = 0;  // the leader's number; its own to read

  alignas(64) std::atomic<uint64_t> ticket_{0};  // epoch << 32 | pieces not yet taken
  alignas(64) std::atomic<int64_t> done_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<uint64_t> posted_{0};  // tasks
  std::atomic<uint64_t> begun_{0}, finished_{0};
  std::atomic<bool> is_led_{false};
  std::atomic<int> asleep_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> workers_;
};

}  // namespace kvad
