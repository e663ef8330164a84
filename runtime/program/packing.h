// Arrays of a student in the layout of the engines: packing.py in C++.
#pragma once

#include <memory>
#include <vector>

#include "../engine/parts.h"
#include "weights.h"

// A student's parts, and the memory of those parts that are not in its file.
struct Packed {
  StudentParts parts;
  std::shared_ptr<void> kept;    // needed while a student lives
  std::shared_ptr<void> copies;  // needed until all students are made
};

// Throws InputError if the engine cannot hold the student.
Packed pack(const Weights& weights);
