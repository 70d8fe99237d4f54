// Pods that may change claims, sorted into lots. The pods of a lot ask for the same and could start
// a claim of the same shape, so the price does not depend on which of them goes where.
#pragma once

#include "scheduling/claims/claim_drafts.hpp"
#include "scheduling/search/program/resource_prices.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace millwright::scheduling {

// Pods of one class that came on one rung and stay in the same domains.
struct LotItem {
  Applicant applicant;
  ShapeId from;             // the shape of a claim that they were on
  std::vector<PodId> pods;  // the last one goes first
  // Groups by hostname that limit how many of these pods share a node.
  std::vector<TopologyGroupId> apart;
};

struct Lot {
  const Amounts* requests = nullptr;
  ShapeId shape;           // of a new claim for one of its pods
  double least = 0;        // what the room of one pod costs at the resource prices
  double value = 0;        // what one pod is taken to be worth, see PodLots::revalue()
  bool exclusive = false;  // some of its pods may not share a node with each other
  std::size_t left = 0;    // pods that are not packed yet
  std::vector<std::uint32_t> items;
  std::vector<TopologyGroupId> apart;  // groups that are in LotItem::apart of all its items
};

class PodLots {
 public:
  PodLots(const PodClasses& pods, const Topology& topology, ClaimDrafts& drafts)
      : pods_(pods), topology_(topology), drafts_(drafts) {}

  // Adds the claim's pods. Returns false when one of them must stay on the claim; none is added
  // then.
  bool take(const ClaimDraft& claim);
  // Which of the pods that must keep apart from some make a lot, if they ask for the same.
  enum class Apart {
    InOneLot,  // all: fewer lots
    ByGroup,   // those that keep apart from the same: it is known how many may share a node
  };
  // Makes the lots, the dearest first. Called once, after all claims are taken.
  void sort(const ById<PoolId, PoolTemplate>& pools, Apart apart = Apart::InOneLot);

  // Raises the value of pods that paid more than they are worth, so that they are placed with
  // greater care the next time. `paid`: price over value, added up over its pods.
  void revalue(const ById<LotId, double>& paid);

  ById<LotId, Lot>& lots() { return lots_; }
  const ById<LotId, Lot>& lots() const { return lots_; }
  // The lots whose pods may join a claim of the shape, the dearest first; some may turn out not to.
  std::vector<LotId> meeting(ShapeId shape) const;
  std::vector<LotItem>& items() { return items_; }
  const std::vector<LotItem>& items() const { return items_; }
  std::size_t pods_left() const { return left_; }
  // The lot and the item are of these lots.
  void remove_last(Lot& lot, LotItem& item);
  // The lot of every pod that was removed, one after the other.
  const std::vector<LotId>& departures() const { return departures_; }
  // One of `parts` shares of the lots, each with some of every size. The other lots are there too,
  // but without pods.
  PodLots part(std::size_t index, std::size_t parts) const;
  // What the room of the pods that are left costs by the fraction of a machine.
  double least() const;
  double value_left() const { return value_left_; }
  // The least number of claims that keeps those pods apart that must not share a node; with the
  // lots dealt into `parts` that share no claim, see part().
  std::size_t claims_needed(std::size_t parts = 1) const;
  // How many of the lot's pods one machine may have.
  std::size_t most_together(const Lot& lot) const;
  // The lots of which some pod is kept apart from all others of its lot, the dearest first.
  const std::vector<LotId>& kept_apart() const { return kept_apart_; }
  // Whether no pod of the lot may join a node with this tally.
  bool is_kept_off(const Lot& lot, const HostTally& tally) const;
  // What a unit of each resource is worth to new claims of the shape, which is that of a lot.
  const std::vector<double>& prices(ShapeId shape) const { return prices_.at(shape); }
  // What all pods ask for together, packed or not.
  const Amounts& demand() const { return demand_; }

 private:
  void note_exclusive(LotItem& item) const;
  // How many of the pods that the group keeps apart may share a node.
  std::int32_t most_per_node(TopologyGroupId group) const;

  const PodClasses& pods_;
  const Topology& topology_;
  ClaimDrafts& drafts_;
  std::vector<LotItem> items_;
  ById<LotId, Lot> lots_;
  std::vector<std::pair<std::uint32_t, LotId>> by_rung_;  // by id of the rung; sorted
  std::vector<LotId> kept_apart_;
  std::vector<LotId> departures_;
  std::size_t left_ = 0;
  double value_left_ = 0;
  std::map<TopologyGroupId, std::size_t> apart_;  // by group that keeps pods apart: those left
  PoolId pool_;
  // Items by class, rung, domains and shape of the claim that the pods come from; until the lots
  // are made.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, ShapeId>, std::uint32_t> known_;
  std::map<ShapeId, std::vector<double>> prices_;
  Amounts demand_;
};

}  // namespace millwright::scheduling
