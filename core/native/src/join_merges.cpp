#include "join_merges.h"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>
#endif

namespace kvad {

#ifdef __linux__
namespace {

constexpr size_t kPiece = size_t(1) << 16;

// A file in memory. What has been written to it is no part of the process's own memory.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("tokenizer.json", MFD_CLOEXEC)) { piece_.reserve(kPiece); }
  ~MemoryFile() { if (file_ >= 0) close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void put(const uint8_t* bytes, size_t count) {
    if (piece_.size() + count > kPiece) flush();
    if (count > kPiece) write_all(bytes, count);
    else piece_.insert(piece_.end(), bytes, bytes + count);
  }
  void put(char byte) { put(reinterpret_cast<const uint8_t*>(&byte), 1); }
  // The descriptor, or -1 if not all could be written.
  int take() {
    flush();
    const int file = whole_ ? file_ : -1;
    if (whole_) file_ = -1;
    return file;
  }
  bool is_there() const { return file_ >= 0; }

 private:
  void flush() {
    write_all(piece_.data(), piece_.size());
    piece_.clear();
  }
  void write_all(const uint8_t* bytes, size_t count) {
    while (whole_ && count > 0) {
      const ssize_t written = write(file_, bytes, count);
      if (written > 0) { bytes += written; count -= size_t(written); }
      else whole_ = written < 0 && errno == EINTR;
    }
  }

  int file_;
  bool whole_ = true;
  std::vector<uint8_t> piece_;
};

int hex(uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const uint8_t lower = byte | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Reads a JSON list of pairs of texts.
class Pairs {
 public:
  Pairs(const uint8_t* text, size_t at, size_t end) : text_(text), at_(at), end_(end) {}

  // Not the older form, and not empty: then there is nothing to join.
  bool are_there() const {
    Pairs ahead(*this);
    return ahead.take('[') && ahead.take('[');
  }

  bool join_into(MemoryFile& out) {
    if (!take('[')) return false;
    out.put('[');
    for (bool first = true; first || take(','); first = false) {
      if (!first) out.put(',');
      if (!pair(out)) return false;
    }
    out.put(']');
    return take(']') && at_ == end_;
  }

 private:
  bool pair(MemoryFile& out) {
    size_t from, to;
    if (!take('[') || !token(from, to) || is_comment(from, to)) return false;
    out.put('"');
    out.put(text_ + from, to - from);
    if (!take(',') || !token(from, to) || !take(']')) return false;
    out.put(' ');
    out.put(text_ + from, to - from);
    out.put('"');
    return true;
  }

  // What stands between quotation marks, as it is written. False for one that holds a space, or what may be one.
  bool token(size_t& from, size_t& to) {
    if (!take('"')) return false;
    for (from = at_; at_ < end_; at_++) {
      const uint8_t byte = text_[at_];
      if (byte <= ' ') return false;
      if (byte == '"') { to = at_++; return true; }
      if (byte == '\\' && !escape()) return false;
    }
    return false;
  }

  // Moves to the last byte of an escape. False for one of a printable ASCII character by its number: it may be the space.
  bool escape() {
    if (++at_ >= end_) return false;
    if (text_[at_] != 'u') return std::strchr("\"\\/bfnrt", text_[at_]) && text_[at_];
    if (end_ - at_ <= 4) return false;
    int value = 0;
    for (int i = 0; i < 4; i++) {
      const int digit = hex(text_[++at_]);
      if (digit < 0) return false;
      value = value * 16 + digit;
    }
    return value < 0x20 || value > 0x7e;
  }

  // Among joined merges the library passes over what begins like the first line of a merges.txt.
  bool is_comment(size_t from, size_t to) const {
    static const char start[] = "#version";
    const size_t length = sizeof start - 1;
    return to - from >= length && std::memcmp(text_ + from, start, length) == 0;
  }

  bool take(char wanted) {
    while (at_ < end_ && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) at_++;
    if (at_ >= end_ || text_[at_] != uint8_t(wanted)) return false;
    at_++;
    return true;
  }

  const uint8_t* text_;
  size_t at_, end_;
};

}  // namespace

int join_merges(const uint8_t* text, size_t length, size_t at, size_t end) {
  Pairs pairs(text, at, end);
  if (at >= end || end > length || !pairs.are_there()) return -1;
  MemoryFile out;
  if (!out.is_there()) return -1;
  out.put(text, at);
  if (!pairs.join_into(out)) return -1;
  out.put(text + end, length - end);
  return out.take();
}
#else
int join_merges(const uint8_t*, size_t, size_t, size_t) { return -1; }
#endif

}  // namespace kvad
