// The Python module of one instruction set; the macro MODULE is its name.
#include <nanobind/nanobind.h>

#include "parts.h"

namespace nb = nanobind;

void bind_layers(nb::module_& module);  // each is in the file of its name
void bind_students(nb::module_& module, MakeStudent int8, MakeStudent float32, MakeStudent bfloat16);

NB_MODULE(MODULE, module) {
  nb::set_leak_warnings(false);  // a student in a module's variable lives as long as Python
  bind_layers(module);
#ifdef BFLOAT16
  bind_students(module, int8_student, float32_student, bfloat16_student);
#else
  bind_students(module, int8_student, float32_student, nullptr);
#endif
}
