// Packs a problem in several ways and keeps the best: most pods, then least money, then fewest
// claims, then the earlier way, of which Karpenter's is the first.
#pragma once

#include "scheduling/packing/packing.hpp"

#include <memory>

namespace millwright::scheduling {

// Refers to the compiled problem.
std::unique_ptr<Packing> best_packing(const CompiledProblem& compiled);

}  // namespace millwright::scheduling
