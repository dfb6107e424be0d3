// A file, or a part of it, mapped read-only. A file that is cut short while it is mapped raises SIGBUS on the next read of its end; the
// handler turns that into one sentence and exit status 1, and leaves every other SIGBUS to whoever had it before.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace kvad {

class Mapping {
 public:
  // Bytes of an open file; null and a sentence in `wrong` where they cannot be mapped. `path` is for messages.
  static Mapping* open(const std::string& path, int file, size_t offset, size_t bytes, std::string& wrong);
  ~Mapping();
  // Makes the page table entries of these bytes of an open mapping, as far as the system has them in memory: nothing is
  // read from a disk. Does nothing for other bytes, and where the system has no such call.
  static void warm(const uint8_t* at, size_t bytes);
  // Takes these bytes of an open mapping out of the process's memory. They stay in the system's cache, and come back when
  // they are read again.
  static void leave(const uint8_t* at, size_t bytes);
  void* data() const { return static_cast<char*>(pages_) + before_; }
  size_t bytes() const { return bytes_ - before_; }

 private:
  Mapping(void* pages, size_t bytes, size_t before, int slot) : pages_(pages), bytes_(bytes), before_(before), slot_(slot) {}
  void* pages_;
  size_t bytes_;   // from there
  size_t before_;  // of them, so that the mapping begins with a page
  int slot_;
};

}  // namespace kvad
