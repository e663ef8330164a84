// Students whose products are of float32 numbers.
#include "student.h"

std::unique_ptr<AnyStudent> float32_student(const StudentParts& parts) { return std::make_unique<Student<Float32>>(parts); }
