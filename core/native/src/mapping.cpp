#include "mapping.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace kvad {
namespace {

// Read by a signal handler: plain memory only, no locks, no allocation.
struct Slot {
  std::atomic<const char*> start{nullptr};
  std::atomic<size_t> bytes{0};
  std::atomic<const char*> shrank{nullptr}, path{nullptr};
  // of the mapped file, whatever its path leads to by then
  std::atomic<dev_t> device{0};
  std::atomic<ino_t> inode{0};
};
constexpr int kSlots = 4096;
Slot slots[kSlots];
struct sigaction before;
std::once_flag installed;

void say(const char* text, size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(2, text, bytes);
    if (written <= 0) return;  // nothing can be done about it in a signal handler
    text += written;
    bytes -= size_t(written);
  }
}

// How many bytes the file has now, in digits; a descriptor kept for this would be one more for each mapping.
const char* size_now(const Slot& slot, char (&digits)[24]) {
  struct stat facts;
  const char* path = slot.path.load();
  if (!path || stat(path, &facts) != 0 || facts.st_dev != slot.device.load() || facts.st_ino != slot.inode.load()) return "fewer";
  char* first = digits + sizeof digits - 1;
  *first = '\0';
  size_t now = size_t(facts.st_size);
  do *--first = char('0' + now % 10);
  while ((now /= 10) > 0);
  return first;
}

// One call of `write` where it fits, so that lines of other threads do not come between.
void say_shrank(const char* text, const char* now) {
  char line[8192];
  size_t length = 0;
  const auto put = [&](char byte) { if (length < sizeof line) line[length++] = byte; };
  for (; *text != '\0'; text++) {
    if (*text != Mapping::kNow) put(*text);
    else for (const char* at = now; *at != '\0'; at++) put(*at);
  }
  say(line, length);
}

void on_bus(int signal, siginfo_t* info, void* context) {
  const bool fault = info->si_code > 0;  // else somebody sent it
  const char* at = static_cast<const char*>(info->si_addr);
  for (const Slot& slot : slots) {
    if (!fault) break;
    const char *start = slot.start.load(), *shrank = slot.shrank.load();
    if (!start || !shrank || at < start || at >= start + slot.bytes.load()) continue;
    char digits[24];
    say_shrank(shrank, size_now(slot, digits));
    _exit(1);
  }
  if (before.sa_flags & SA_SIGINFO) { if (before.sa_sigaction) return before.sa_sigaction(signal, info, context); }
  else if (before.sa_handler == SIG_IGN && !fault) return;
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // The read is tried again when this returns, and ends the process as if there had been no handler.
  ::signal(SIGBUS, SIG_DFL);
  if (!fault) raise(SIGBUS);
}

// Code that a signal may reach has to stay where it is: Node unloads an addon with the last thread that loaded it.
void stay_loaded() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&on_bus), &self) != 0 && self.dli_fname) dlopen(self.dli_fname, RTLD_LAZY | RTLD_NODELETE | RTLD_NOLOAD);
}

void install() {
  std::call_once(installed, [] {
    stay_loaded();
    struct sigaction action;
    std::memset(&action, 0, sizeof action);
    action.sa_sigaction = on_bus;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
  });
}

std::mutex changing;

int take_slot(const void* data, size_t bytes, const struct stat& facts, const Mapping::Part& part) {
  const std::lock_guard<std::mutex> lock(changing);
  for (int i = 0; i < kSlots; i++) {
    Slot& slot = slots[i];
    if (slot.start.load()) continue;
    slot.bytes.store(bytes);
    slot.device.store(facts.st_dev);
    slot.inode.store(facts.st_ino);
    slot.path.store(strdup(part.path.c_str()));
    slot.shrank.store(strdup(part.shrank.c_str()));
    slot.start.store(static_cast<const char*>(data));
    return i;
  }
  return -1;
}

void free_slot(int index) {
  if (index < 0) return;
  const std::lock_guard<std::mutex> lock(changing);
  Slot& slot = slots[index];
  slot.start.store(nullptr);
  std::free(const_cast<char*>(slot.shrank.exchange(nullptr)));
  std::free(const_cast<char*>(slot.path.exchange(nullptr)));
}

// Held while pages are touched, so that nobody unmaps them meanwhile.
std::mutex warming;

bool is_mapped(const uint8_t* at, size_t bytes) {
  const char* first = reinterpret_cast<const char*>(at);
  for (const Slot& slot : slots) {
    const char* start = slot.start.load();
    if (start && first >= start && first + bytes <= start + slot.bytes.load()) return true;
  }
  return false;
}

}  // namespace

Mapping* Mapping::open(const Part& part, std::string& wrong) {
  struct stat facts;
  const size_t ahead = part.offset % size_t(sysconf(_SC_PAGESIZE));
  const size_t whole = part.bytes + ahead;
  void* pages = fstat(part.file, &facts) == 0 ? mmap(nullptr, whole, PROT_READ, MAP_SHARED, part.file, off_t(part.offset - ahead)) : MAP_FAILED;
  if (pages == MAP_FAILED) { wrong = part.path + ": " + std::strerror(errno); return nullptr; }
  install();
  return new Mapping(pages, whole, ahead, take_slot(pages, whole, facts, part));
}

void Mapping::warm(const uint8_t* at, size_t bytes) {
#ifdef __linux__
  const std::lock_guard<std::mutex> lock(warming);
  if (!is_mapped(at, bytes)) return;
  const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  const uintptr_t first = uintptr_t(at) / page * page, pages = (uintptr_t(at) + bytes - first + page - 1) / page;
  void* start = reinterpret_cast<void*>(first);
  std::vector<unsigned char> resident(pages);
  if (mincore(start, pages * page, resident.data()) != 0) return;
  for (const unsigned char held : resident)
    if (!(held & 1)) return;
  // Linux 5.14 has it; an older one refuses, and the first use makes the entries as ever.
  constexpr int populate_read = 22;
  madvise(start, pages * page, populate_read);
#else
  (void)at;
  (void)bytes;
#endif
}

void Mapping::leave(const uint8_t* at, size_t bytes) {
  const std::lock_guard<std::mutex> lock(warming);
  if (!is_mapped(at, bytes)) return;
  const uintptr_t page = uintptr_t(sysconf(_SC_PAGESIZE));
  // Pages that lie in the range as a whole: the others hold bytes of the neighbours.
  const uintptr_t first = (uintptr_t(at) + page - 1) / page * page, last = (uintptr_t(at) + bytes) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

Mapping::~Mapping() {
  const std::lock_guard<std::mutex> lock(warming);
  free_slot(slot_);
  munmap(pages_, bytes_);
}

}  // namespace kvad
