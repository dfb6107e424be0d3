// A file, or a part of it, mapped read-only. A file that is cut short while it is mapped (or whose disk fails) raises SIGBUS
// on the next read of what is no longer there; the handler turns that into what the caller gave to be said of it and exit
// status 1, and leaves every other SIGBUS to whoever had it before, or to the system.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace kvad {

class Mapping {
 public:
  // Bytes of an open file.
  struct Part {
    std::string path;  // for messages, and to look at the file's size
    int file;
    size_t offset, bytes;
    // All that is to be written to stderr when they are no longer there, with kNow in place of the number of bytes that
    // the file has by then.
    std::string shrank;
  };
  // Null and a sentence in `wrong` where they cannot be mapped.
  static Mapping* open(const Part& part, std::string& wrong);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  // Makes the page table entries of these bytes of an open mapping, as far as the system has them in memory: nothing is
  // read from a disk. Does nothing for other bytes, and where the system has no such call.
  static void warm(const uint8_t* at, size_t bytes);
  // Takes these bytes of an open mapping out of the process's memory. They stay in the system's cache, and come back when
  // they are read again.
  static void leave(const uint8_t* at, size_t bytes);
  void* data() const { return static_cast<char*>(pages_) + before_; }
  size_t bytes() const { return bytes_ - before_; }

  static constexpr char kNow = '\1';

 private:
  Mapping(void* pages, size_t bytes, size_t before, int slot) : pages_(pages), bytes_(bytes), before_(before), slot_(slot) {}
  void* pages_;
  size_t bytes_;   // from there
  size_t before_;  // of them, so that the mapping begins with a page
  int slot_;
};

}  // namespace kvad
