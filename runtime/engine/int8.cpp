// Students whose products are of int8 numbers.
#include "student.h"

void bind_int8(nb::module_& module) { bind_student<Int8>(module, "Int8Student"); }
