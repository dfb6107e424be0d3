// Which instruction sets this machine runs, and the table of kernels that is used. A table that does not agree with the
// portable one is not.
#include <cstring>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include "kernels.h"
#include "self_check.h"

namespace kvad {
namespace {

struct Choice {
  const char* name;
  const Kernels* (*table)();
  bool (*runs)();
};

#if defined(__x86_64__)
// F16C and AVX-VNNI are asked of the processor itself: older compilers do not know their names. Whether the system saves
// the registers that they use comes with avx2.
bool has_avx2() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29 & 1) != 0;
}
bool has_avxvnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni");
}
#endif
#if defined(__aarch64__) && defined(__linux__)
bool has_dotprod() { return (getauxval(AT_HWCAP) & (1UL << 20)) != 0; }
bool has_i8mm() { return (getauxval(26) & (1UL << 13)) != 0; }  // AT_HWCAP2
#elif defined(__aarch64__) && defined(__APPLE__)
bool feature(const char* name) {
  int value = 0;
  size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}
bool has_dotprod() { return feature("hw.optional.arm.FEAT_DotProd"); }
bool has_i8mm() { return feature("hw.optional.arm.FEAT_I8MM"); }
#elif defined(__aarch64__)
bool has_dotprod() { return false; }
bool has_i8mm() { return false; }
#endif
bool always() { return true; }

const Choice* choices(int& count) {
  static const Choice list[] = {
#if defined(__x86_64__)
      {"avx512", kernels_avx512, has_avx512},
      {"avxvnni", kernels_avxvnni, has_avxvnni},
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

// What this machine has: tables to use, best first, and the names of those that compute something else.
struct Here {
  std::vector<const Kernels*> tables;
  std::string names, distrusted;
};

void append(std::string& names, const char* name) { names += (names.empty() ? "" : ",") + std::string(name); }

const Here& here() {
  static const Here found = [] {
    Here all;
    int count;
    const Choice* list = choices(count);
    for (int i = 0; i < count; i++) {
      const Kernels* table = list[i].runs() ? list[i].table() : nullptr;
      if (!table) continue;
      if (agrees_with_portable(*table)) {
        all.tables.push_back(table);
        append(all.names, list[i].name);
      } else {
        append(all.distrusted, list[i].name);
      }
    }
    return all;
  }();
  return found;
}

}  // namespace

const Kernels* kernels_for(const char* name) {
  for (const Kernels* table : here().tables)
    if (!name || !*name || std::strcmp(name, table->name) == 0) return table;
  return nullptr;
}

const char* kernels_here() { return here().names.c_str(); }
const char* kernels_distrusted() { return here().distrusted.c_str(); }

}  // namespace kvad
