// Pods that may change claims, in lots: those of a lot ask for the same and could start a claim of
// the same shape, so that which of them goes where is all one to the price.
#pragma once

#include "scheduling/claim_drafts.hpp"
#include "scheduling/resource_prices.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

namespace millwright::scheduling {

// Pods of one class that came on one rung and stay in the same domains.
struct LotItem {
  Candidate candidate;
  std::uint32_t from = 0;           // a shape of claim they were on
  std::vector<std::uint32_t> pods;  // the last one goes first
  // Groups by hostname that both hold and count them: so many of them fit on one node, no more.
  std::vector<std::uint32_t> apart;
};

struct Lot {
  const Amounts* requests = nullptr;
  std::uint32_t shape = 0;  // of a new claim for them
  double least = 0;         // what room for one of them costs at its best
  double value = 0;         // and what it is taken to cost, see PodLots::revalue()
  bool exclusive = false;   // some of its pods may not share a node with each other
  std::size_t left = 0;     // pods
  std::vector<std::uint32_t> items;
};

class PodLots {
 public:
  PodLots(const PodClasses& pods, const Topology& topology, ClaimDrafts& drafts)
      : pods_(pods), topology_(topology), drafts_(drafts) {}

  // Takes the claim's pods; false when some of them have to stay, and then all do.
  bool take(const ClaimDraft& claim);
  // To be called once all are taken. Dearest lots first.
  void sort(std::span<const PoolTemplate> pools);

  // Pods that paid more than they are worth are worth more: to be placed with greater care the next
  // time. `paid`: by lot, price over value, added up over its pods.
  void revalue(std::span<const double> paid);

  std::vector<Lot>& lots() { return lots_; }
  const std::vector<Lot>& lots() const { return lots_; }
  std::vector<LotItem>& items() { return items_; }
  const std::vector<LotItem>& items() const { return items_; }
  std::size_t pods_left() const { return left_; }
  void remove_last(Lot& lot, LotItem& item);
  // These lots only, the others without pods: one of `parts` that hold some of every size.
  PodLots part(std::size_t index, std::size_t parts) const;
  double value_left() const { return value_left_; }
  // How many claims it takes at least to keep those apart that must not share a node.
  std::size_t claims_needed() const;
  // What room is worth on new claims of a lot's shape.
  const std::vector<double>& prices(std::uint32_t shape) const { return prices_.at(shape); }
  // All pods together, at first.
  const Amounts& demand() const { return demand_; }

 private:
  void note_exclusive(LotItem& item) const;

  const PodClasses& pods_;
  const Topology& topology_;
  ClaimDrafts& drafts_;
  std::vector<LotItem> items_;
  std::vector<Lot> lots_;
  std::size_t left_ = 0;
  double value_left_ = 0;
  std::map<std::uint32_t, std::size_t> apart_;  // pods left by group that keeps them apart
  std::uint32_t pool_ = 0;
  // By class, rung, domains and shape of the claim they come from.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t>
      known_;
  std::map<std::uint32_t, std::vector<double>> prices_;  // by shape
  Amounts demand_;
};

}  // namespace millwright::scheduling
