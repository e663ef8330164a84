// Students whose products are of int8 numbers.
#include "student.h"

std::unique_ptr<AnyStudent> int8_student(const StudentParts& parts) { return std::make_unique<Student<Int8>>(parts); }
