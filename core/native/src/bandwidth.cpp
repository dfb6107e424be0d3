#include "bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

namespace kvad {
namespace {

constexpr size_t kPiece = size_t(1) << 18;

// Eight sums, so that no addition waits for the one before; a cache line a turn, asked for 4 KiB ahead.
uint64_t sum(const uint8_t* data, size_t bytes) {
  uint64_t lanes[8] = {0};
  size_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    __builtin_prefetch(data + at + 4096);
    uint64_t line[8];
    std::memcpy(line, data + at, 64);
    for (int l = 0; l < 8; l++) lanes[l] += line[l];
  }
  uint64_t total = 0;
  for (; at < bytes; at++) total += data[at];
  for (const uint64_t lane : lanes) total += lane;
  return total;
}

}  // namespace

double read_seconds(Pool& pool, const uint8_t* data, size_t bytes) {
  std::atomic<uint64_t> total{0};
  const auto start = std::chrono::steady_clock::now();
  pool.run(int64_t((bytes + kPiece - 1) / kPiece), [&](int64_t piece, int) {
    const size_t from = size_t(piece) * kPiece;
    total.fetch_add(sum(data + from, std::min(kPiece, bytes - from)), std::memory_order_relaxed);
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // the sum has to be used, or there would be nothing to read for
  return total.load() == 1 ? seconds + 1e-12 : seconds;
}

}  // namespace kvad
