// A tokenizer.json with its merges as the format wrote them before they were pairs: "a b" in place of ["a", "b"]. The
// library that reads the file holds a pair as a list of two texts, in several copies at once, which is half of its memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kvad {

// A file in memory that holds `text` with the list of pairs from `at` (its bracket) to `end` (behind the closing one)
// joined: its descriptor, which is the caller's. -1 where the list is something else, where a joined merge would be read
// as another one (a token with a space in it, or one that begins a comment), or where the system has no such files.
int join_merges(const uint8_t* text, size_t length, size_t at, size_t end);

}  // namespace kvad
