// The arrays of a student as an engine wants them: packing.py in C++.
#pragma once

#include <memory>
#include <vector>

#include "../engine/parts.h"
#include "weights.h"

// A student's parts, and the memory of those that are not in its file.
struct Packed {
  StudentParts parts;
  std::shared_ptr<void> kept;    // as long as a student lives
  std::shared_ptr<void> copies;  // until all students are made
};

// Throws InputError if the engine cannot hold the student.
Packed pack(const Weights& weights);
