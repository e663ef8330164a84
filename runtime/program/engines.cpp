#include "engines.h"

#include <algorithm>
#include <sstream>

#include "../engine/processor.h"
#include "compiled.h"
#include "input_error.h"
#include "names.h"

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace {

using Make = AnyStudent* (*)(bool integer, const StudentParts& parts);

struct Compiled {
  std::string name;
  Make make;
};

}  // namespace

#define DECLARE(set) extern "C" AnyStudent* weebill_engine_##set(bool integer, const StudentParts& parts);
#define COMPILED(set) {#set, weebill_engine_##set},
ENGINES(DECLARE)

namespace {

const Compiled COMPILED_SETS[] = {ENGINES(COMPILED)};

Make compiled(const std::string& name) {
  for (const Compiled& one : COMPILED_SETS)
    if (one.name == name) return one.make;
  return nullptr;
}

// Linux grants the matrix unit (AMX) only to processes that ask for it.
bool may_use_matrix_unit() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr long REQUEST_PERMISSION = 0x1023, TILE_DATA = 18;
  static const bool granted = syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
  return granted;
#else
  return false;
#endif
}

bool has(const Set& set) {
  static const std::vector<const char*> found = features();
  std::istringstream needs(set.needs);
  for (std::string one; needs >> one;)
    if (std::find(found.begin(), found.end(), one) == found.end()) return false;
  return compiled(set.name) && (std::string(set.name) != "amx" || may_use_matrix_unit());
}

}  // namespace

std::string checked_instruction_set(const std::string& name) {
  std::string known, here;
  for (const Set& set : SETS) {
    if (has(set)) {
      if (name.empty() || name == set.name) return set.name;
      here += (here.empty() ? "" : ", ") + std::string(set.name);
    }
    known += (known.empty() ? "" : ", ") + std::string(set.name);
  }
  if (std::none_of(std::begin(SETS), std::end(SETS), [&](const Set& set) { return name == set.name; }))
    throw InputError("no instruction set " + in_quotes(name) + "; there are " + known);
  throw InputError("instruction set '" + name + "': this machine lacks it; it has " + here);
}

std::unique_ptr<AnyStudent> make_student(const std::string& set, bool integer, const StudentParts& parts) {
  return std::unique_ptr<AnyStudent>(compiled(set)(integer, parts));
}
