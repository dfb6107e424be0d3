// The machine's own read bandwidth, as the threads of the engine reach it: what decoding is measured against.
#pragma once
#include <cstddef>
#include <cstdint>

#include "pool.h"

namespace kvad {

// Reads all of `data` once, in pieces that the pool's threads take. Returns seconds.
double read_seconds(Pool& pool, const uint8_t* data, size_t bytes);

}  // namespace kvad
