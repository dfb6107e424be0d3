// A file mapped read-only. A file that is cut short while it is mapped raises SIGBUS on the next read of its end; the
// handler turns that into one sentence and exit status 1, and leaves every other SIGBUS to whoever had it before.
#pragma once
#include <cstddef>
#include <string>

namespace kvad {

class Mapping {
 public:
  // null and a sentence in `wrong` where it cannot be mapped.
  static Mapping* open(const std::string& path, std::string& wrong);
  ~Mapping();
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  Mapping(void* data, size_t bytes, int slot) : data_(data), bytes_(bytes), slot_(slot) {}
  void* data_;
  size_t bytes_;
  int slot_;
};

}  // namespace kvad
