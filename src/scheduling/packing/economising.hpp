// Cheaper claims for the pods of a packing that has run.
#pragma once

#include "scheduling/packing/packing.hpp"
#include "scheduling/search/program/program_memory.hpp"

namespace millwright::scheduling {

// Packs the claims of each pool anew where that costs less, see Repacking. False when none does.
bool repack(const CompiledProblem& compiled, Packing& packing, ProgramMemory& programs);
// Dissolves small claims and splits wasteful ones. Pods that had to wait may find a place then.
void tidy_up(Packing& packing);

}  // namespace millwright::scheduling
