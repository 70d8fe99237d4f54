// Whether a few pods fit on machines that are given: branch and bound over how many pods of each
// lot go on each machine, the largest lots first. A branch ends where the pods that have no place
// yet ask for more than all machines together have left.
#pragma once

#include "scheduling/search/exact/loaded_bins.hpp"

#include <cstddef>
#include <vector>

namespace millwright::scheduling {

class LoadingTree {
 public:
  enum class Answer { Fits, DoesNotFit, NotKnown };

  // Bins that are empty, and are so again unless everything fits. Keeps a reference.
  explicit LoadingTree(LoadedBins& bins);

  // NotKnown when it has not come to an end within `work`, of which it subtracts what it does.
  Answer run(std::size_t& work);

 private:
  // Finds places for the lot and those after it.
  bool place(std::size_t lot, std::size_t& work);
  // Gives this bin and those after it so many pods of the lot, and goes on with the next lot.
  bool deal(std::size_t lot, std::size_t bin, std::size_t pods, std::size_t& work);
  // Of machines that are alike, the first has no fewer pods of the lot.
  std::size_t most_for(std::size_t lot, std::size_t bin, std::size_t pods);
  bool has_room_from(std::size_t lot) const;

  LoadedBins& bins_;
  std::vector<Amounts> demand_;                   // by lot: of that one and those after it
  std::vector<std::vector<std::size_t>> wanted_;  // by lot and bin: what to try first
};

}  // namespace millwright::scheduling
