// Division of sentences into batches of good sizes: batching.py in C++.
#pragma once

#include <vector>

#include "architecture.h"
#include "shortlist.h"

using Sources = std::vector<std::vector<int32_t>>;  // pieces, EOS last
using Batches = std::vector<std::vector<int>>;      // indices of sources

// Divide non-empty sources into batches, longest first, equal lengths in input order.  A batch has at most `size`
// sentences and `pieces` pieces with padding, but at least one sentence.  places: indices of the sources to divide.
Batches length_sorted_batches(const Sources& sources, std::vector<int> places, int64_t size, int64_t pieces);

// The same with sizes that the engine chooses.
Batches best_batches(const Sources& sources, const Architecture& architecture, const Shortlist* shortlist,
                     int64_t pieces);
