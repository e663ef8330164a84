// Students whose products are of bfloat16 numbers.
#include "student.h"

void bind_bfloat16(nb::module_& module) { bind_student<Bfloat16>(module, "Bfloat16Student"); }
