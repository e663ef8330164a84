// Students whose products are of float32 numbers.
#include "student.h"

void bind_float32(nb::module_& module) { bind_student<Float32>(module, "Float32Student"); }
