// The Python module of one instruction set, MODULE.  All of an engine but this name is the same for each set.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_layers(nb::module_& module);  // each in the file of its name
void bind_students(nb::module_& module);

NB_MODULE(MODULE, module) {
  nb::set_leak_warnings(false);  // a student lives as long as Python where a module's variable holds it
  bind_layers(module);
  bind_students(module);
}
