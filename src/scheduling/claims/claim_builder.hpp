// Makes claims and adds pods to them: says which pods may share a machine, and which instance types
// can hold them. It works on single drafts; ClaimDrafts has those of a packing.
#pragma once

#include "scheduling/claims/claim_draft.hpp"
#include "scheduling/claims/claim_shapes.hpp"
#include "scheduling/claims/limits.hpp"
#include "scheduling/claims/price_levels.hpp"
#include "scheduling/claims/reservations.hpp"
#include "scheduling/packing/compiled_problem.hpp"
#include "scheduling/topology/applicant.hpp"
#include "scheduling/topology/topology_counts.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace millwright::scheduling {

enum class LimitUse : std::uint8_t { Heeded, Ignored };

class ClaimBuilder {
 public:
  // With `keep_price_levels` a pod does not join a claim if one of the two would then pay more for
  // its room than on its own: an on-demand pod makes a whole spot claim on-demand.
  ClaimBuilder(const CompiledProblem& compiled, const TopologyCounts& counts,
               bool keep_price_levels);

  const PodClasses& pods() const { return pods_; }
  const ById<PoolId, PoolTemplate>& pools() const { return pools_; }
  const ClaimShapes& shapes() const { return shapes_; }
  ClaimShapes& shapes() { return shapes_; }
  // What may still be bought.
  const Limits& limits(PoolId pool) const { return limits_[pool]; }
  Limits& limits(PoolId pool) { return limits_[pool]; }
  Reservations& reservations() { return reservations_; }
  bool keeps_price_levels() const { return keep_price_levels_; }
  void forget_price_levels() { keep_price_levels_ = false; }
  double price_level(const ClaimDraft& claim) const {
    return price_levels_.of(claim.pool, shapes_[claim.shape], claim);
  }

  // A claim of the pool that can hold the pod, which is still to be added; nullopt when the pool
  // has none.
  std::optional<ClaimDraft> draft(PoolId pool, const Applicant& applicant, LimitUse limits);
  // Whether some instance type of the pool could hold the pod where it is narrowed to, be it on
  // sale just now or not. Taints do not matter: a constraint may say that such nodes count.
  bool could_hold(PoolId pool, const Applicant& applicant);
  // A claim for the pod alone, whatever the limits. nullopt when there is none or it would take a
  // reservation or break minValues.
  std::optional<ClaimDraft> start(PoolId pool, const Applicant& applicant, PodId pod);
  void add_pod(ClaimDraft& claim, const Applicant& applicant, PodId pod);
  // Adds the pod if it may share the claim's node and some instance type holds them all.
  bool join(ClaimDraft& claim, const Applicant& applicant, PodId pod);
  // Whether some type that the claim may become holds that much more.
  bool has_room(const ClaimDraft& claim, const Amounts& more);
  // Whether groups by hostname let the pod share the claim's node.
  bool admits_host(const ClaimDraft& claim, const Applicant& applicant) const;
  // The shape after the applicant joins; ShapeId::none() when it cannot.
  ShapeId joined_shape(ShapeId shape, const Applicant& applicant);
  // What the cheapest new claim for the applicant would cost; infinity when there is none.
  double price_of_new(const Applicant& applicant);

  // The shape and rows of a claim once requirements are added that hold for all its pods.
  struct Narrower {
    ShapeId shape;
    RowSet rows;
  };
  // nullopt when that leaves nothing to buy.
  std::optional<Narrower> narrower(const ClaimDraft& claim, const Narrowing& narrowing);
  // Whether minValues hold for the claim's shape and requests on these rows.
  bool has_choice(const ClaimDraft& claim, const RowSet& rows) const {
    return has_choice(claim, shapes_[claim.shape], rows, claim.requests);
  }

 private:
  // Gives the claim those of the rows that hold the pod; false when they leave too little choice.
  bool take_rows(ClaimDraft& claim, RowSet rows, const Applicant& applicant);
  // On a reservation all types count that might have been bought instead, as in Karpenter: it is
  // certain whatever there is to choose from.
  bool has_choice(const ClaimDraft& claim, const ClaimShape& shape, const RowSet& rows,
                  const Amounts& requests) const;
  // Rows that are left when the claim takes the shape; false when it would lose its reservation.
  bool narrow_rows(const ClaimDraft& claim, const ClaimShape& next, RowSet& rows) const;
  void drop_rows_with_daemon_port_conflicts(RowSet& rows, PoolId pool,
                                            const HostPorts& ports) const;
  // The claim's pods would pay more for their room.
  bool would_raise_prices(const ClaimDraft& claim, const ClaimShape& next,
                          const RowSet& rows) const;
  // The pod would pay more for its room than on a claim of its own.
  bool is_dearer_than_its_own(const ClaimDraft& claim, const Applicant& applicant);
  std::vector<std::uint32_t> reserved_by_price(const ClaimShape& shape) const;

  const Problem& problem_;
  const PodClasses& pods_;
  const ById<PoolId, PoolTemplate>& pools_;
  const TopologyCounts& counts_;
  ClaimShapes shapes_;
  Reservations reservations_;
  ById<PoolId, Limits> limits_;
  PriceLevels price_levels_;
  bool keep_price_levels_;
  std::vector<std::vector<double>> own_price_levels_;  // by class and rung; negative: not known
  Amounts smallest_;                                   // per resource the least any pod asks for
  Amounts scratch_;
};

}  // namespace millwright::scheduling
