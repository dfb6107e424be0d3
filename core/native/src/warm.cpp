#include "warm.h"

#include <algorithm>
#include <system_error>

#include "mapping.h"

namespace kvad {

namespace {
// So much at a time: whoever unmaps a file waits for no more.
constexpr size_t kPiece = size_t(1) << 22;
}  // namespace

Warmer::~Warmer() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Warmer::push(const uint8_t* data, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
      return;  // no thread to be had: pages come when they are read
    }
  }
  ranges_.push_back({data, bytes});
  changed_.notify_one();
}

void Warmer::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    if (ranges_.empty()) {
      changed_.wait(lock);
      continue;
    }
    Range& range = ranges_.front();
    const uint8_t* data = range.data;
    const size_t bytes = std::min(range.bytes, kPiece);
    range.data += bytes;
    range.bytes -= bytes;
    if (range.bytes == 0) ranges_.pop_front();
    lock.unlock();
    Mapping::warm(data, bytes);
    lock.lock();
  }
}

}  // namespace kvad
