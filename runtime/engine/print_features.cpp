// Prints the features of the processor that compiles, for CMake.
#include "processor.h"

#include <cstdio>

int main() {
  for (const char* name : features()) std::printf("%s ", name);
}
