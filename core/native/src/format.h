// Layout of quantised matrices, shared by every kernel and by the cache files.
//
// A row is cut in blocks of 32 columns (the last one padded with zeros), each with one f16 scale.
// Rows are taken in groups of 16 (the last one padded with zero rows); a group is
//   q8: for each block 8 chunks of 64 bytes; chunk j holds columns 4j..4j+3 of the 16 rows, row by row, int8
//   q4: for each block 4 chunks of 64 bytes; the low nibbles are chunk j, the high nibbles chunk j + 4; code = value + 8
// and behind all its blocks the scales: for each block 16 f16, one a row.
// So the order in memory is the order of reading, and a group is 64-byte aligned when the matrix is.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kvad {

constexpr int kBlock = 32;
constexpr int kGroup = 16;
constexpr int kLayoutVersion = 1;

enum class Kind : int { F32 = 0, F16 = 1, BF16 = 2, Q8 = 3, Q4 = 4 };

inline int64_t blocks_of(int64_t cols) { return (cols + kBlock - 1) / kBlock; }
inline int64_t groups_of(int64_t rows) { return (rows + kGroup - 1) / kGroup; }
inline size_t codes_bytes(Kind kind, int64_t blocks) { return size_t(blocks) * (kind == Kind::Q8 ? 512 : 256); }
inline size_t group_bytes(Kind kind, int64_t blocks) {
  // scales take 32 bytes a block; rounded so that each group starts on a cache line
  return codes_bytes(kind, blocks) + ((size_t(blocks) * 32 + 63) / 64) * 64;
}
inline size_t quant_bytes(Kind kind, int64_t rows, int64_t cols) {
  return size_t(groups_of(rows)) * group_bytes(kind, blocks_of(cols));
}
inline size_t dense_bytes(Kind kind) { return kind == Kind::F32 ? 4 : 2; }

}  // namespace kvad
