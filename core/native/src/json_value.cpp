#include "json_value.h"

#include <vector>

namespace kvad {
namespace {

constexpr uint64_t kMostWatched = uint64_t(1) << 24;

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }
bool is_not_whole(uint8_t byte) { return byte == '-' || byte == '.' || byte == 'e' || byte == 'E' || byte == '+'; }

// Which ids a vocabulary has given.
struct Ids {
  std::vector<bool> seen;
  int64_t shared = -1;

  // Takes the number that begins at `at`; returns where it ends.
  size_t add(const uint8_t* text, size_t length, size_t at) {
    const uint8_t before = text[at - 1];
    size_t next = at;
    uint64_t id = 0;
    for (; next < length && is_digit(text[next]); next++)
      if (id < kMostWatched) id = id * 10 + (text[next] - '0');
    if (is_not_whole(before) || (next < length && is_not_whole(text[next])) || id >= kMostWatched) return next;
    if (id >= seen.size()) seen.resize(size_t(id) * 2 + 1024);
    if (seen[id] && shared < 0) shared = int64_t(id);
    seen[id] = true;
    return next;
  }
};

}  // namespace

JsonValue pass_value(const uint8_t* text, size_t length, size_t at, bool watch_ids) {
  Ids ids;
  int64_t depth = 0;
  for (size_t next = at; next < length;) {
    const uint8_t byte = text[next++];
    if (byte == '"') {
      while (next < length) {
        const uint8_t inside = text[next++];
        if (inside == '"') break;
        if (inside == '\\') next++;
      }
    } else if (byte == '{' || byte == '[') {
      depth++;
    } else if (byte == '}' || byte == ']') {
      if (--depth == 0) return {next, ids.shared};
    } else if (watch_ids && is_digit(byte) && next > 1) {
      next = ids.add(text, length, next - 1);
    }
  }
  return {length, ids.shared};
}

}  // namespace kvad
