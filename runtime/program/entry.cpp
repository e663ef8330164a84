// Interface between the program and the engine of one instruction set: ENTRY.  The rest of the engine is hidden.
#include "../engine/parts.h"

extern "C" AnyStudent* ENTRY(bool integer, const StudentParts& parts) {
  return (integer ? int8_student : float32_student)(parts).release();
}
