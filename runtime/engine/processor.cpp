// The features of this processor that engines need, by Linux's names, where the system saves the registers they use.
#include <nanobind/nanobind.h>

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nb = nanobind;

namespace {

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

nb::list features() {
  nb::list found;
#if defined(__x86_64__)
  constexpr unsigned OSXSAVE = 1u << 27;
  unsigned value[4];
  if (!__get_cpuid(1, &value[EAX], &value[EBX], &value[ECX], &value[EDX]) || !(value[ECX] & OSXSAVE)) return found;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const uint64_t saved = static_cast<uint64_t>(high) << 32 | low;
  for (const Feature& one : FEATURES)
    if (__get_cpuid_count(one.leaf, one.subleaf, &value[EAX], &value[EBX], &value[ECX], &value[EDX]) &&
        value[one.place] >> one.bit & 1 && (saved & one.saved) == one.saved)
      found.append(one.name);
#endif
  return found;
}

}  // namespace

NB_MODULE(_processor, module) { module.def("features", &features); }
