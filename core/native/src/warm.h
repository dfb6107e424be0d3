// Page table entries for weights that are in memory already, made ahead of their first use by a thread of its own. A first
// forward that meets them one by one, in several threads at once, takes several times as long as reading the weights.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace kvad {

class Warmer {
 public:
  Warmer() = default;
  ~Warmer();
  // Bytes of a mapped file, in the order in which they will be read; others are passed over.
  void push(const uint8_t* data, size_t bytes);

 private:
  struct Range {
    const uint8_t* data;
    size_t bytes;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Range> ranges_;
  std::thread thread_;
  bool stop_ = false;
};

}  // namespace kvad
