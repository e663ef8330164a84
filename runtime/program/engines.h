// The engines of the instruction sets, and the choice of one: engines.py in C++.
#pragma once

#include <memory>
#include <string>

#include "../engine/parts.h"

// Return the instruction set of this name; if the name is empty, the fastest of this processor.  Throws InputError if
// there is none.
std::string checked_instruction_set(const std::string& name);

// integer: use products of codes.  The processor must have the set.
std::unique_ptr<AnyStudent> make_student(const std::string& set, bool integer, const StudentParts& parts);
