// Which instruction sets this machine runs, and the table of kernels that is used.
#include <cstring>
#include <string>

#include "kernels.h"

namespace kvad {
namespace {

struct Choice {
  const char* name;
  const Kernels* (*table)();
  bool (*runs)();
};

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}
#endif
#if defined(__aarch64__)
#include <sys/auxv.h>
bool has_dotprod() { return (getauxval(AT_HWCAP) & (1UL << 20)) != 0; }
bool has_i8mm() { return (getauxval(26) & (1UL << 13)) != 0; }
#endif
bool always() { return true; }

const Choice* choices(int& count) {
  static const Choice list[] = {
#if defined(__x86_64__)
      {"avx512", kernels_avx512, has_avx512},
      {"avx2", kernels_avx2, has_avx2},
#endif
#if defined(__aarch64__)
      {"i8mm", kernels_i8mm, has_i8mm},
      {"neon", kernels_neon, has_dotprod},
#endif
      {"portable", kernels_portable, always},
  };
  count = int(sizeof list / sizeof *list);
  return list;
}

}  // namespace

const Kernels* kernels_for(const char* name) {
  int count;
  const Choice* list = choices(count);
  for (int i = 0; i < count; i++) {
    if (name && *name && std::strcmp(name, list[i].name) != 0) continue;
    if (!list[i].runs()) continue;
    if (const Kernels* table = list[i].table()) return table;
  }
  return nullptr;
}

const char* kernels_here() {
  static const std::string names = [] {
    std::string all;
    int count;
    const Choice* list = choices(count);
    for (int i = 0; i < count; i++)
      if (list[i].runs() && list[i].table()) all += (all.empty() ? "" : ",") + std::string(list[i].name);
    return all;
  }();
  return names.c_str();
}

}  // namespace kvad
