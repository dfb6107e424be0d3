// A file mapped read-only. A file that is cut short while it is mapped raises SIGBUS on the next read of its end; the
// handler turns that into one sentence and exit status 1, and leaves every other SIGBUS to whoever had it before.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace kvad {

class Mapping {
 public:
  // null and a sentence in `wrong` where it cannot be mapped.
  static Mapping* open(const std::string& path, std::string& wrong);
  ~Mapping();
  // Makes the page table entries of these bytes of an open mapping, as far as the system has them in memory: nothing is
  // read from a disk. Does nothing for other bytes, and where the system has no such call.
  static void warm(const uint8_t* at, size_t bytes);
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  Mapping(void* data, size_t bytes, int slot) : data_(data), bytes_(bytes), slot_(slot) {}
  void* data_;
  size_t bytes_;
  int slot_;
};

}  // namespace kvad
