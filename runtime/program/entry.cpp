// What the program calls of the engine of one instruction set: ENTRY.  All else of the engine is hidden from it.
#include "../engine/parts.h"

extern "C" AnyStudent* ENTRY(bool integer, const StudentParts& parts) {
  return (integer ? int8_student : float32_student)(parts).release();
}
