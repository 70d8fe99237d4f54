// Claims in the making: which pods share a node that is still to be bought, and which instance
// types can still hold them. Requirements only narrow and requests only grow, so a pod class that
// a claim has turned away once need never be tried on it again.
#pragma once

#include "scheduling/claim_shapes.hpp"
#include "scheduling/limits.hpp"
#include "scheduling/narrowings.hpp"
#include "scheduling/pod_classes.hpp"
#include "scheduling/reservations.hpp"
#include "scheduling/topology_counts.hpp"
#include "scheduling/unit_prices.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace millwright::scheduling {

// The domains chosen for a pod, and those that are closed to it; either may be null.
struct Narrowed {
  const Narrowing* chosen = nullptr;
  const Narrowing* closed = nullptr;
};

struct ClaimDraft {
  std::uint32_t pool = 0;
  std::uint32_t shape = 0;
  RowSet rows;                            // instance types that can hold it
  RowSet charged;                         // those its pool's limits were charged for
  Amounts requests;                       // of its pods
  HostPorts ports;                        // of its pods
  std::vector<std::uint32_t> pods;        // indices into PodClasses::pods, in order of arrival
  std::vector<std::uint16_t> rungs;       // on which rung of its ladder each of them came
  std::optional<std::uint32_t> reserved;  // the offering kind it has a reservation in
  double unit_price = 0;                  // when it was opened; see UnitPrices
  bool min_values_relaxed = false;
  bool full = false;  // not even the smallest pod of the problem would fit

  // Empty when the problem has no topology.
  std::vector<Narrowed> narrowings;     // by pod: what was added for it
  std::vector<std::uint32_t> floating;  // groups that count its pods once a domain is chosen
  HostTally tally;
  bool keeps_together = false;  // some pod must share a node with another
};

// A pod on its way: all of it is the same for the pods of one class on one rung, but for what is
// added for its topology.
struct Candidate {
  const PodClass& pod_class;
  const Constraint& constraint;
  const Rung& rung;
  Narrowed narrowed{};
};

// The row of a claim that costs least, and that price.
struct CheapestRow {
  std::size_t row = 0;
  double price = 0;
};

class ClaimDrafts {
 public:
  // With `keep_price_levels` a pod does not join a claim if one of the two would then pay more for
  // its room than on its own: an on-demand pod makes a whole spot claim on-demand.
  ClaimDrafts(const Problem& problem, const PodClasses& pods, std::span<const PoolTemplate> pools,
              TopologyCounts& counts, Narrowings& narrowings, bool keep_price_levels);

  const std::vector<ClaimDraft>& claims() const { return claims_; }
  const ClaimShapes& shapes() const { return shapes_; }
  ClaimShapes& shapes() { return shapes_; }
  const Limits& limits(std::uint32_t pool) const { return limits_[pool]; }

  bool join(std::uint32_t claim, const Candidate& candidate, std::uint32_t pod);
  // A new claim in the first pool that takes the pod; its index.
  std::optional<std::uint32_t> open(const Candidate& candidate, std::uint32_t pod);
  bool keeps_price_levels() const { return keep_price_levels_; }
  void forget_price_levels() { keep_price_levels_ = false; }
  // Whether the pool would take the pod on a new claim if it had no limits.
  bool would_open_without_limits(std::uint32_t pool, const Candidate& candidate);
  // Commits the claims of a limited pool to sizes no larger than their cheapest choice, which
  // frees what they were charged beyond it. False when nothing was freed.
  bool tighten(std::uint32_t pool);
  // Replaces a claim by two that cost less together, where machine sizes waste much of it: 65 CPUs
  // are cheaper as 64 and 2 than as 96. False when no two do. The second claim is the last one.
  bool split(std::uint32_t claim);
  // Moves the pods of small claims into room that others have paid for; claims left empty vanish,
  // which changes the indices of those after them.
  void dissolve_small_claims();

  // Claims whose domain is open although a group counts their pods get one, if possible one that
  // the requirements admit: before somebody is placed by that count.
  void settle_floating(std::uint32_t group, const Requirements& wanted);
  // What Repacking (repacking.hpp) builds claims with; nothing counts until they are adopted.
  //
  // A claim for the pod alone; nullopt when there is none or it would take a reservation.
  std::optional<ClaimDraft> start(std::uint32_t pool, const Candidate& candidate,
                                  std::uint32_t pod);
  bool join(ClaimDraft& claim, const Candidate& candidate, std::uint32_t pod);
  // The claim's i-th pod as it came.
  Candidate candidate(const ClaimDraft& claim, std::size_t i) const;
  // As far as groups by hostname are concerned.
  bool admits_host(const ClaimDraft& claim, const Candidate& candidate) const;
  // Narrows the candidate to the domains that the claim, on which it is, has. False when one of
  // those is not decided.
  bool freeze_domains(const ClaimDraft& claim, Candidate& candidate);
  // Whether pods with the constraint count in the same groups on both.
  bool counts_alike(const ClaimDraft& before, const ClaimDraft& after,
                    const Constraint& constraint);
  std::uint32_t joined_shape(std::uint32_t shape, const Candidate& candidate);
  // Puts these in place of all claims of the pool. False, and nothing is changed, when its limits
  // do not allow it.
  bool adopt(std::uint32_t pool, std::vector<ClaimDraft> claims);

  // For PlanningSession (claim_revision.cpp). Pods of new classes are to come.
  void note_new_classes();
  // The pod leaves its claim, which may become empty and is then closed for good. Not for pods that
  // other pods matter to.
  void take_out(std::uint32_t claim, std::uint32_t pod);

  // The domain of every claim of the shape, kUnknownDomain when it is open.
  std::int32_t domain_of(std::uint32_t shape, std::uint32_t key);
  // Counts all claims' pods again, after split() and dissolve_small_claims().
  void recount();
  // What the cheapest new claim for the candidate would cost; infinity when there is none.
  double price_of_new(const Candidate& candidate);

 private:
  std::optional<ClaimDraft> draft(std::uint32_t pool, const Candidate& candidate, bool heed_limits);
  bool settle(ClaimDraft& claim, RowSet rows, const Candidate& candidate);
  // Whether minValues hold for a claim that asks for so much on these rows. On a reservation all
  // count that might have been bought instead, as in Karpenter: it is certain whatever there is to
  // choose from.
  bool has_choice(const ClaimDraft& claim, const ClaimShape& shape, const RowSet& rows,
                  const Amounts& requests) const;
  // The claim's pods would pay more for their room.
  bool would_raise_prices(const ClaimDraft& claim, const ClaimShape& next,
                          const RowSet& rows) const;
  // The pod would pay more for its room than on a claim of its own.
  bool is_dearer_than_its_own(const ClaimDraft& claim, const Candidate& candidate);
  // Rows that are left when the claim takes the shape; false when that breaks it.
  bool narrow_rows(const ClaimDraft& claim, const ClaimShape& next, RowSet& rows) const;
  struct Settled {
    std::uint32_t shape = 0;
    RowSet rows;
  };
  // The claim with requirements added that hold for all its pods; nullopt when that breaks it.
  std::optional<Settled> settled_on(const ClaimDraft& claim, const Narrowing& narrowing);
  bool settle_on(ClaimDraft& claim, const Narrowing& narrowing);
  // Where the pods of `part` were counted in `whole`, they stay.
  bool keep_domains(const ClaimDraft& whole, ClaimDraft& part);
  bool settle_claim(std::uint32_t index, std::uint32_t key, std::uint32_t group,
                    const Requirements& wanted);
  void note_topology(ClaimDraft& claim, const Candidate& candidate) const;
  // Enters a pod that has just been added in the counts.
  void count(std::uint32_t claim, const Constraint& constraint);
  void land_floating(std::uint32_t claim);
  void land_everywhere(std::uint32_t claim, std::uint32_t group);
  // Whether the group's node filter counts the claim's pods.
  enum class Counting : std::uint8_t { No, Perhaps, Surely };
  Counting counting(const ClaimDraft& claim, std::uint32_t group);
  // Moving the pod there changes no count that anybody was placed by.
  bool may_move(const ClaimDraft& from, const ClaimDraft& to, const Constraint& constraint);
  // Positions of the claim's pods that fill the row, first come first served.
  std::vector<bool> filling(const ClaimDraft& claim, std::size_t row) const;
  // A claim of those pods of another that were chosen (or of those that were not).
  std::optional<ClaimDraft> part(const ClaimDraft& claim, const std::vector<bool>& chosen,
                                 bool which);
  // `cheapest`: by claim, as they are bought.
  bool dissolve(std::uint32_t claim, const std::vector<std::optional<CheapestRow>>& cheapest,
                std::size_t& tries);
  bool replace(std::uint32_t claim, ClaimDraft first, ClaimDraft second);
  // `tight`: as no larger than the cheapest machine of each. False when that is too much.
  bool charge_all(Limits& limits, std::vector<ClaimDraft>& claims, bool tight) const;
  void drop_rows_with_daemon_port_conflicts(RowSet& rows, std::uint32_t pool,
                                            const HostPorts& ports) const;
  void add_pod(ClaimDraft& claim, const Candidate& candidate, std::uint32_t pod);
  void note_if_full(ClaimDraft& claim);
  std::vector<std::uint32_t> reserved_by_price(const ClaimShape& shape) const;

  const Problem& problem_;
  const PodClasses& pods_;
  std::span<const PoolTemplate> pools_;
  TopologyCounts& counts_;
  Narrowings& narrowings_;
  ClaimShapes shapes_;
  Reservations reservations_;
  std::vector<Limits> limits_;
  UnitPrices unit_prices_;
  bool keep_price_levels_;
  std::vector<std::vector<double>> own_unit_prices_;  // by class and rung; negative: not known
  std::vector<ClaimDraft> claims_;
  Amounts smallest_;  // per resource the least that any pod asks for
  Amounts scratch_;
  std::vector<std::vector<std::int32_t>> domains_;        // by shape and key; see domain_of()
  std::unordered_map<std::uint64_t, Counting> counting_;  // by shape and group
};

// Per resource the least that any class asks for.
Amounts smallest_requests(const PodClasses& pods);
// Ties go to the type's name.
std::optional<CheapestRow> cheapest_row(const PoolTemplate& pool, const ClaimShape& shape,
                                        const ClaimDraft& claim);
// The least price of one row among the offerings open to the claim; infinity when there is none.
double row_price(const PoolTemplate& pool, const ClaimShape& shape, const ClaimDraft& claim,
                 std::size_t row);

}  // namespace millwright::scheduling
