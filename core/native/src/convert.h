// Stored floats in another float type, rounded to nearest even.
#pragma once
#include <cstdint>

#include "format.h"
#include "pool.h"

namespace kvad {

// `count` values; `from` and `to` are float kinds. `out` is another memory than `data`.
void convert(Pool& pool, Kind from, const void* data, int64_t count, Kind to, void* out);

}  // namespace kvad
