// The engines of instruction sets, and the choice among them: engines.py in C++.
#pragma once

#include <memory>
#include <string>

#include "../engine/parts.h"

// The instruction set of a name, or the fastest that this processor has where it is empty.  Throws InputError if
// there is none.
std::string checked_instruction_set(const std::string& name);

// integer: whether products are of codes.  The set is one that this processor has.
std::unique_ptr<AnyStudent> make_student(const std::string& set, bool integer, const StudentParts& parts);
