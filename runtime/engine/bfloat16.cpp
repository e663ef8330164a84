// Students whose products are of bfloat16 numbers.
#include "student.h"

std::unique_ptr<AnyStudent> bfloat16_student(const StudentParts& parts) { return std::make_unique<Student<Bfloat16>>(parts); }
