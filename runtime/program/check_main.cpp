// weebill-check SET: exits with 0 if the instruction set computes correctly.
#include <cstdio>
#include <cstring>

#include "compiled.h"

#define DECLARE(set) extern "C" int weebill_check_##set();
#define RUN(set)                    \
  if (!std::strcmp(words[1], #set)) \
    return std::printf("%s: %d wrong\n", #set, faults = weebill_check_##set()), faults != 0;
ENGINES(DECLARE)

int main(int count, char** words) {
  int faults = 0;
  if (count != 2) return 2;
  ENGINES(RUN)
  return 2;
}
