#include "scheduling/packing/best_packing.hpp"

#include "scheduling/packing/economising.hpp"
#include "scheduling/packing/late_placing.hpp"
#include "scheduling/packing/pod_orders.hpp"
#include "scheduling/search/filling/node_filling.hpp"
#include "scheduling/search/program/program_memory.hpp"

#include <algorithm>
#include <compare>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace millwright::scheduling {
namespace {

// Times that column generation may choose what nodes take, see NodeValues::ByProgram.
constexpr int kMaxPrograms = 2;
// So many classes are seldom few enough lots for linear programs, see Repacking.
constexpr std::size_t kManyClasses = 1'280;

// See attempt_open().
constexpr std::size_t kFewClaims = 64;

struct Quality {
  std::size_t refused = 0;
  double price = 0;
  std::size_t claims = 0;
  friend auto operator<=>(const Quality&, const Quality&) = default;
};

Quality quality_of(const Packing& packing, const ById<PoolId, PoolTemplate>& pools) {
  Quality quality{.claims = packing.drafts().claims().size()};
  for (const PodPlace& place : packing.places()) {
    quality.refused += place.kind == PodPlace::Kind::None ? 1 : 0;
  }
  for (const ClaimDraft& claim : packing.drafts().claims()) {
    const auto cheapest =
        cheapest_row(pools[claim.pool], packing.drafts().shapes()[claim.shape], claim);
    quality.price += cheapest ? cheapest->price : 0;
  }
  return quality;
}

// How many of each class; which of its pods they are makes no difference.
std::vector<std::size_t> refused_by_class(const Packing& packing, const PodClasses& pods) {
  std::vector<std::size_t> refused(pods.classes.size(), 0);
  for (PodId pod; pod < pods.pods.end_id(); ++pod) {
    refused[pods.pods[pod].pod_class] += packing.places()[pod].kind == PodPlace::Kind::None ? 1 : 0;
  }
  return refused;
}

class BestPacking {
 public:
  explicit BestPacking(const CompiledProblem& compiled)
      : compiled_(compiled),
        karpenters_order_(karpenters_order(compiled.pods)),
        allowance_(compiled.problem.options.allowance) {}

  std::unique_ptr<Packing> find() {
    // Which pods go to nodes that exist is settled before: repacking does not touch those.
    const bool has_nodes = !compiled_.nodes.nodes().empty();
    attempt({{.order = karpenters_order_}, !has_nodes});
    if (compiled_.problem.options.economise) {
      // Without claims there is nothing to save.
      if (best_.quality.claims > 0 && (!best_.repacked || repacks_badly())) {
        attempt_others();
      }
      attempt_open();
      attempt_companies();
      attempt_refused_first();
      if (has_nodes && best_.quality.claims > 0) {
        last_ = repack(compiled_, *best_.packing, programs_);
        tidy_up(*best_.packing);
        best_.quality = quality_of(*best_.packing, compiled_.pools);
        attempt_dearest_on_nodes();
      }
      // Where most kinds of pods exclude each other, a few claims taken apart hold no pods that
      // could change places.
      if (last_.may_save_more && !compiled_.rungs.mostly_apart() &&
          rebuild(compiled_, *best_.packing)) {
        tidy_up(*best_.packing);
      }
    }
    place_among_nodes(compiled_, *best_.packing);
    return std::move(best_.packing);
  }

 private:
  struct Way {
    Strategy strategy;
    bool repack = false;  // see Repacking
  };
  struct Result {
    Way way;
    std::unique_ptr<Packing> packing;
    Quality quality;
    bool repacked = false;  // repacking has found cheaper claims
  };

  // Claim by claim, the last claims of pods that share machines with few others are poor, and there
  // are too many pods for a linear program to do better. Splitting claims often does.
  bool repacks_badly() const {
    return compiled_.pods.classes.size() > kManyClasses && compiled_.rungs.mostly_apart();
  }

  void attempt_others() {
    if (compiled_.pods.classes.size() < 2) {
      return;
    }
    attempt({{.order = karpenters_order_, .fewest_pods_first = false}});
    attempt({{.order = karpenters_order_, .keep_price_levels = true, .fewest_pods_first = false}});
    Way way = best_.way;
    for (auto& order : other_orders(compiled_.pods, compiled_.pools)) {
      way.strategy.order = more_orders_.emplace_back(std::move(order));
      attempt(way);
    }
  }

  // In the emptiest domain a machine for one pod may be cheap and one for many dear. Where spread
  // constraints do not count the pods that they hold, others serve as well. Pods of many claims
  // fill machines in every domain. Repacking takes much longer than packing: what it could not hold
  // up against is not repacked.
  void attempt_open() {
    const auto& constraints = compiled_.pods.constraints;
    const bool few = best_.quality.claims > 0 && best_.quality.claims <= kFewClaims;
    if (few && !compiled_.topology.empty() &&
        std::any_of(constraints.begin(), constraints.end(),
                    [&](const Constraint& each) { return is_spread_uncounted(each); })) {
      Way way = best_.way;
      way.strategy.leave_open = true;
      way.repack = false;
      attempt(way);
      if (best_.way.strategy.leave_open) {
        way.repack = true;
        attempt(way);
      }
    }
  }

  bool is_spread_uncounted(const Constraint& constraint) const {
    const auto& groups = compiled_.topology.groups();
    return std::any_of(constraint.ladder.begin(), constraint.ladder.end(), [&](const Rung& rung) {
      return std::any_of(rung.groups.begin(), rung.groups.end(), [&](TopologyGroupId id) {
        return groups[id].kind == TopologyKind::Spread && !groups[id].by_host &&
               !constraint.counts_for(id);
      });
    });
  }

  // Karpenter's order puts the first pods of many companies on a claim, which is full then. The
  // rest of each may go nowhere else.
  void attempt_companies() {
    if (best_.quality.refused == 0 || compiled_.topology.empty()) {
      return;
    }
    const Companies& companies = companies_.emplace(compiled_.pods, compiled_.topology);
    if (!companies.empty()) {
      Way way = best_.way;
      way.strategy.order =
          more_orders_.emplace_back(companies.behind_their_first(way.strategy.order));
      way.strategy.companies = &companies;
      way.repack = true;
      attempt(way);
    }
  }

  // Existing nodes, limits and reservations are scarce: pods that had no other choice may have come
  // too late for them. They come first now, and those that this refuses before them next time.
  void attempt_refused_first() {
    const bool scarce =
        !compiled_.nodes.nodes().empty() ||
        std::any_of(compiled_.pools.begin(), compiled_.pools.end(),
                    [](const PoolTemplate& pool) { return pool.pool->limits.has_value(); });
    if (!scarce || compiled_.pods.classes.size() < 2) {
      return;
    }
    for (std::size_t before = best_.quality.refused + 1;
         0 < best_.quality.refused && best_.quality.refused < before;) {
      before = best_.quality.refused;
      Way way = best_.way;
      auto& order = more_orders_.emplace_back(way.strategy.order.begin(), way.strategy.order.end());
      const auto& places = best_.packing->places();
      std::stable_partition(order.begin(), order.end(),
                            [&](PodId pod) { return places[pod].kind == PodPlace::Kind::None; });
      way.strategy.order = order;
      attempt(way);
    }
  }

  // Prices follow from the plan that there is, so a better one may lead to a better one still.
  void attempt_dearest_on_nodes() {
    attempt_on_nodes(NodeValues::AsPaid);
    for (int i = 0; i < kMaxPrograms && attempt_on_nodes(NodeValues::ByProgram); ++i) {
    }
  }

  bool attempt_on_nodes(NodeValues by) {
    if (allowance_.is_spent()) {
      return false;
    }
    const auto& placed = placed_.emplace_back(dearest_on_nodes(compiled_, *best_.packing, by));
    if (placed.empty() || best_.quality.claims == 0) {
      return false;
    }
    const Quality before = best_.quality;
    Way way = best_.way;
    way.strategy.placed = placed;
    way.repack = true;
    attempt(way);
    return best_.quality < before;
  }

  void attempt(const Way& way) {
    if (best_.packing && allowance_.is_spent()) {
      return;
    }
    Result result{.way = way,
                  .packing = std::make_unique<Packing>(compiled_, way.strategy, allowance_)};
    Packing& packing = *result.packing;
    packing.run();
    if (compiled_.problem.options.economise) {
      packing.drafts().builder().forget_price_levels();
      if (way.repack) {
        last_ = repack(compiled_, packing, programs_);
        result.repacked = last_.cheaper;
      }
      tidy_up(packing);
    }
    result.quality = quality_of(packing, compiled_.pools);
    if (!best_.packing || is_better(result)) {
      best_ = std::move(result);
    }
  }

  // A plan that refuses others instead is not the better one for costing less.
  bool is_better(const Result& other) const {
    return other.quality.refused < best_.quality.refused ||
           (other.quality < best_.quality &&
            (other.quality.refused == 0 || refused_by_class(*other.packing, compiled_.pods) ==
                                               refused_by_class(*best_.packing, compiled_.pods)));
  }

  const CompiledProblem& compiled_;
  // What strategies refer to; addresses stay as more are added.
  const std::vector<PodId> karpenters_order_;
  std::deque<std::vector<PodId>> more_orders_;
  std::deque<std::vector<std::pair<PodId, NodeId>>> placed_;
  std::optional<Companies> companies_;
  ProgramMemory programs_;
  Allowance allowance_;  // for all attempts together
  Repacked last_;        // of those that were tried
  Result best_;
};

}  // namespace

std::unique_ptr<Packing> best_packing(const CompiledProblem& compiled) {
  return BestPacking(compiled).find();
}

}  // namespace millwright::scheduling
