// The Python module of one instruction set, MODULE.  All of an engine but this name is the same for each set.
#include <nanobind/nanobind.h>

#include "parts.h"

namespace nb = nanobind;

void bind_layers(nb::module_& module);  // each in the file of its name
void bind_students(nb::module_& module, MakeStudent int8, MakeStudent float32, MakeStudent bfloat16);

NB_MODULE(MODULE, module) {
  nb::set_leak_warnings(false);  // a student lives as long as Python where a module's variable holds it
  bind_layers(module);
#ifdef BFLOAT16
  bind_students(module, int8_student, float32_student, bfloat16_student);
#else
  bind_students(module, int8_student, float32_student, nullptr);
#endif
}
