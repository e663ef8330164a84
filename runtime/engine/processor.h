// The features of this processor that engines need, by Linux's names, if the system saves the registers they use.
#pragma once

#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#elif defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#if defined(__x86_64__)

enum Register { EAX, EBX, ECX, EDX };

struct Feature {
  const char* name;
  unsigned leaf, subleaf;
  Register place;
  int bit;
  uint64_t saved;  // bits of XCR0: the registers that the system saves
};

constexpr uint64_t YMM = 0x6, ZMM = 0xe6, TILES = 0x60000;
constexpr Feature FEATURES[] = {
    {"fma", 1, 0, ECX, 12, YMM},           {"avx2", 7, 0, EBX, 5, YMM},
    {"avx_vnni", 7, 1, EAX, 4, YMM},       {"avx512f", 7, 0, EBX, 16, ZMM},
    {"avx512dq", 7, 0, EBX, 17, ZMM},      {"avx512bw", 7, 0, EBX, 30, ZMM},
    {"avx512vl", 7, 0, EBX, 31, ZMM},      {"avx512_vnni", 7, 0, ECX, 11, ZMM},
    {"avx512_bf16", 7, 1, EAX, 5, ZMM},    {"amx_bf16", 7, 0, EDX, 22, TILES},
    {"amx_tile", 7, 0, EDX, 24, TILES},    {"amx_int8", 7, 0, EDX, 25, TILES},
};

inline std::vector<const char*> features() {
  std::vector<const char*> found;
  constexpr unsigned OSXSAVE = 1u << 27;
  unsigned value[4];
  if (!__get_cpuid(1, &value[EAX], &value[EBX], &value[ECX], &value[EDX]) || !(value[ECX] & OSXSAVE)) return found;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const uint64_t saved = static_cast<uint64_t>(high) << 32 | low;
  for (const Feature& one : FEATURES)
    if (__get_cpuid_count(one.leaf, one.subleaf, &value[EAX], &value[EBX], &value[ECX], &value[EDX]) &&
        value[one.place] >> one.bit & 1 && (saved & one.saved) == one.saved)
      found.push_back(one.name);
  return found;
}

#elif defined(__aarch64__) && defined(__linux__)

inline std::vector<const char*> features() {
  struct Feature {
    const char* name;
    unsigned long word;  // of the auxiliary vector
    int bit;
  };
  constexpr Feature FEATURES[] = {
      {"asimd", AT_HWCAP, 1}, {"asimddp", AT_HWCAP, 20}, {"i8mm", AT_HWCAP2, 13}, {"bf16", AT_HWCAP2, 14}};
  std::vector<const char*> found;
  for (const Feature& one : FEATURES)
    if (getauxval(one.word) >> one.bit & 1) found.push_back(one.name);
  return found;
}

#elif defined(__aarch64__) && defined(__APPLE__)

inline std::vector<const char*> features() {
  constexpr const char* FEATURES[][2] = {{"asimd", "hw.optional.neon"},
                                         {"asimddp", "hw.optional.arm.FEAT_DotProd"},
                                         {"i8mm", "hw.optional.arm.FEAT_I8MM"},
                                         {"bf16", "hw.optional.arm.FEAT_BF16"}};
  std::vector<const char*> found;
  for (const auto& [name, key] : FEATURES) {
    int value = 0;
    size_t size = sizeof value;
    if (!sysctlbyname(key, &value, &size, nullptr, 0) && value) found.push_back(name);
  }
  return found;
}

#else

inline std::vector<const char*> features() { return {}; }

#endif
