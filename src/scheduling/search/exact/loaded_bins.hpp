// Machines with the pods of lots on them, for now perhaps more than they have room for. What the
// search for a place for every pod looks at and changes (loading_repair.hpp, loading_tree.hpp).
#pragma once

#include "scheduling/search/program/fill_search.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millwright::scheduling {

// Lots are counted from zero here, the largest first; so are bins.
class LoadedBins {
 public:
  // For all pods of the market's lots that are left. Keeps a reference.
  explicit LoadedBins(const FillSearch::Market& market);

  // Begins with empty bins. `machines`: places in the market's list.
  void begin(const std::vector<std::size_t>& machines);

  std::size_t lots() const { return lots_.size(); }
  std::size_t bins() const { return bins_.size(); }
  std::size_t pods_of(std::size_t lot) const { return market_.lots.lots()[lots_[lot]].left; }
  const Amounts& requests_of(std::size_t lot) const {
    return *market_.lots.lots()[lots_[lot]].requests;
  }
  const Amounts& left_in(std::size_t bin) const { return bins_[bin].left; }
  std::uint32_t count(std::size_t lot, std::size_t bin) const { return bins_[bin].counts[lot]; }
  // Whether the machine admits one more pod of the lot; there may be no room for it.
  bool admits(std::size_t lot, std::size_t bin) const;
  // How many pods of the lot there is room for.
  std::size_t room_for(std::size_t lot, std::size_t bin) const;
  // How much the room that is left resembles what a pod asks for: the sum of products.
  double likeness(std::size_t lot, std::size_t bin) const;
  // How much likeness() falls with each pod of the lot.
  double self_likeness(std::size_t lot) const;
  // What the bin has beyond its room, as parts of what all pods ask for; if a pod that asks for
  // `out` left and one that asks for `in` came.
  double excess(std::size_t bin, const Amounts& out, const Amounts& in) const;
  double excess(std::size_t bin) const { return excess(bin, nothing_, nothing_); }
  const Amounts& nothing() const { return nothing_; }
  // The same machine with as much room left.
  bool alike(std::size_t bin, std::size_t other) const {
    return bins_[bin].machine == bins_[other].machine && bins_[bin].left == bins_[other].left;
  }

  // Adds pods of the lot, or takes some away.
  void put(std::size_t lot, std::size_t bin, std::int64_t count);
  std::vector<Fill> fills() const;

 private:
  struct Bin {
    std::size_t machine = 0;
    Amounts left;
    std::vector<std::uint32_t> counts;  // by lot
    std::vector<bool> users;            // likewise
  };

  const FillSearch::Market& market_;
  std::vector<LotId> lots_;
  std::vector<double> weights_;  // by resource: one over what all pods ask for
  Amounts nothing_;
  std::vector<Bin> bins_;
};

}  // namespace millwright::scheduling
