// Finds a place for every pod on machines that are given, where pods are many and small: puts each
// where it suits best, beyond the room if there is none, and then moves pods to other machines or
// swaps them for others as long as that leaves less beyond the room.
//
// Finds nothing out where it fails; LoadingTree does, where pods are few.
#pragma once

#include "scheduling/search/exact/loaded_bins.hpp"

#include <cstddef>

namespace millwright::scheduling {

// The work that a look at so many pods or at so many swaps counts as.
inline constexpr std::size_t kLooksPerWork = 2;

// Bins that are empty at first. Returns whether everything fits; otherwise the bins have what they
// came to have. Subtracts what it does from `work` and stops when nothing is left.
bool load(LoadedBins& bins, std::size_t& work);

// How many pods of the lot go where, by bin, when each goes where the room that is left resembles
// it most. Not all of them if there is no room for all.
std::vector<std::size_t> deal_greedily(const LoadedBins& bins, std::size_t lot, std::size_t& work);

}  // namespace millwright::scheduling
