// Division of sentences into batches of the best sizes: batching.py in C++.
#pragma once

#include <vector>

#include "architecture.h"
#include "shortlist.h"

using Sources = std::vector<std::vector<int32_t>>;  // pieces, EOS last
using Batches = std::vector<std::vector<int>>;      // places of sources

// Non-empty sources in batches, longest first, equal lengths in the order of the input: at most `size` sentences and
// `pieces` with padding, but one sentence at least.  places: those of some of the sources.
Batches length_sorted_batches(const Sources& sources, std::vector<int> places, int64_t size, int64_t pieces);

// The same in sizes of the engine's choice.
Batches best_batches(const Sources& sources, const Architecture& architecture, const Shortlist* shortlist,
                     int64_t pieces);
