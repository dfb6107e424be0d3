// A process that reads behind the end of a file that it has mapped: the sentence and exit status 1 where the mapping is
// ours, death by the signal where it is not. Not under a sanitizer, which has handlers of its own.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "check.h"
#include "mapping.h"

namespace kvad {
namespace {

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

constexpr size_t kBytes = 1 << 16;

// How a child ends that does this, and what it says.
template <class Act> int fate(const Act& act, std::string& said) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    act();
    _exit(0);
  }
  ::close(ends[1]);
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) said.append(buffer, size_t(n));
  ::close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

struct File {
  char path[32] = "/tmp/kvad-check-XXXXXX";
  int descriptor = mkstemp(path);
  File() { if (ftruncate(descriptor, kBytes) != 0) std::abort(); }
  ~File() { unlink(path); ::close(descriptor); }
  void cut() const { if (ftruncate(descriptor, 0) != 0) std::abort(); }
};

// An emulator says something of its own where a process dies.
bool speaks(const std::string& said) { return said.find("it has") != std::string::npos; }

int read_last(const void* bytes) { return static_cast<const volatile unsigned char*>(bytes)[kBytes - 1]; }

#endif

}  // namespace

void faults() {
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const File ours, other;
  std::string wrong, said;
  const std::unique_ptr<Mapping> mapping(Mapping::open({ours.path, ours.descriptor, 0, kBytes, std::string("it has ") + Mapping::kNow + " bytes\n"}, wrong));
  expect(mapping != nullptr, "mapping", wrong.c_str());
  if (!mapping) return;
  const void* theirs = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, other.descriptor, 0);
  int status = fate([&] { read_last(mapping->data()); read_last(theirs); }, said);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0 && said.empty(), "mapping", "a file that is whole cannot be read", status);
  status = fate([&] { ours.cut(); read_last(mapping->data()); }, said);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 1 && said == "it has 0 bytes\n", "mapping", ("a file was cut: " + said).c_str(), status);
  said.clear();
  status = fate([&] { other.cut(); read_last(theirs); }, said);
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS && !speaks(said), "mapping", "a file of others was cut", status);
  status = fate([] { raise(SIGBUS); }, said);
  expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS && !speaks(said), "mapping", "SIGBUS was sent", status);
  munmap(const_cast<void*>(theirs), kBytes);
#endif
}

}  // namespace kvad
