#include "mapping.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

namespace kvad {
namespace {

// Read by a signal handler: plain memory only, no locks, no allocation.
struct Slot {
  std::atomic<const char*> start{nullptr};
  std::atomic<size_t> bytes{0};
  char path[512];
};
constexpr int kSlots = 4096;
Slot slots[kSlots];
struct sigaction before;
std::atomic<bool> installed{false};

void say(const char* text) {
  const ssize_t written = write(2, text, std::strlen(text));
  (void)written;  // nothing can be done about it in a signal handler
}

void on_bus(int signal, siginfo_t* info, void* context) {
  const char* at = static_cast<const char*>(info->si_addr);
  for (const Slot& slot : slots) {
    const char* start = slot.start.load();
    if (!start || at < start || at >= start + slot.bytes.load()) continue;
    say("error: ");
    say(slot.path);
    say(" became shorter while it was in use, or its disk failed (KVAD_E_FILE_SHRANK)\n  hint: fetch the file again, and do not change a model's files while it runs\n");
    _exit(1);
  }
  if (before.sa_flags & SA_SIGINFO) { if (before.sa_sigaction) return before.sa_sigaction(signal, info, context); }
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  ::signal(SIGBUS, SIG_DFL);
  raise(SIGBUS);
}

void install() {
  if (installed.exchange(true)) return;
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_sigaction = on_bus;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, &before);
}

int take_slot(const std::string& path, const void* data, size_t bytes) {
  for (int i = 0; i < kSlots; i++) {
    const char* free = nullptr;
    if (slots[i].start.load() || !slots[i].start.compare_exchange_strong(free, static_cast<const char*>(data))) continue;
    std::strncpy(slots[i].path, path.c_str(), sizeof slots[i].path - 1);
    slots[i].bytes.store(bytes);
    return i;
  }
  return -1;
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

Mapping* Mapping::open(const std::string& path, int file, size_t offset, size_t bytes, std::string& wrong) {
  const size_t ahead = offset % size_t(sysconf(_SC_PAGESIZE));
  const size_t whole = bytes + ahead;
  void* pages = mmap(nullptr, whole, PROT_READ, MAP_SHARED, file, off_t(offset - ahead));
  if (pages == MAP_FAILED) { wrong = path + ": " + std::strerror(errno); return nullptr; }
  install();
  return new Mapping(pages, whole, ahead, take_slot(path, pages, whole));
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
  if (slot_ >= 0) slots[slot_].start.store(nullptr);
  munmap(pages_, bytes_);
}

}  // namespace kvad
