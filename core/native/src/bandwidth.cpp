#include "bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

namespace kvad {
namespace {

constexpr size_t kPiece = size_t(1) << 18;

// Four streams, a quarter of the piece apart, as the kernels read; a cache line of each a turn, and a sum for each of its
// words, so that no addition waits for the one before. Nothing is asked for ahead: that makes a bare loop slower.
uint64_t sum(const uint8_t* data, size_t bytes) {
  const size_t quarter = bytes / 4 / 64 * 64;
  uint64_t lanes[8] = {0};
  for (size_t at = 0; at < quarter; at += 64)
    for (int stream = 0; stream < 4; stream++) {
      uint64_t line[8];
      std::memcpy(line, data + size_t(stream) * quarter + at, 64);
      for (int l = 0; l < 8; l++) lanes[l] += line[l];
    }
  uint64_t total = 0;
  for (size_t at = 4 * quarter; at < bytes; at++) total += data[at];
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
