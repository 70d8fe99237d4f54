// Cheaper claims for the pods of a packing that has run.
#pragma once

#include "scheduling/packing/packing.hpp"
#include "scheduling/search/program/program_memory.hpp"

namespace millwright::scheduling {

struct Repacked {
  bool cheaper = false;        // some pool has other claims now
  bool may_save_more = false;  // see Rebuilding
};

// Packs the claims of each pool anew where that costs less, see Repacking.
Repacked repack(const CompiledProblem& compiled, Packing& packing, ProgramMemory& programs);
// Takes a few claims apart at a time, see Rebuilding. False when nothing was saved.
bool rebuild(const CompiledProblem& compiled, Packing& packing);
// Dissolves small claims and splits wasteful ones. Pods that had to wait may find a place then.
void tidy_up(Packing& packing);

}  // namespace millwright::scheduling
