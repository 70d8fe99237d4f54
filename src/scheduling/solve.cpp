// The planner, step by step: compile the problem, pack, write claims, explain refusals.
#include "millwright/scheduling/solve.hpp"

#include "scheduling/daemon_overhead.hpp"
#include "scheduling/existing_nodes.hpp"
#include "scheduling/explain.hpp"
#include "scheduling/node_filling.hpp"
#include "scheduling/packing.hpp"
#include "scheduling/planned_claims.hpp"
#include "scheduling/pod_classes.hpp"
#include "scheduling/pod_orders.hpp"
#include "scheduling/pool_template.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <memory>
#include <utility>

namespace millwright::scheduling {
namespace {

struct Fate {
  std::optional<std::size_t> claim;  // index in the plan
  std::string dropped;               // or why the claim was not written after all
};

std::vector<Fate> write_claims(const Problem& problem, const PodClasses& pods,
                               const std::vector<PoolTemplate>& pools, const ClaimDrafts& drafts,
                               Plan& plan) {
  ClaimWriter writer(problem, pods, pools, drafts.shapes());
  std::vector<Fate> fates;
  plan.claims.reserve(drafts.claims().size());
  for (const ClaimDraft& draft : drafts.claims()) {
    Fate& fate = fates.emplace_back();
    if (auto claim = writer.write(draft, fate.dropped)) {
      fate.claim = plan.claims.size();
      plan.claims.push_back(*std::move(claim));
    }
  }
  return fates;
}

struct Quality {
  std::size_t refused = 0;
  double price = 0;
  std::size_t claims = 0;
  friend auto operator<=>(const Quality&, const Quality&) = default;
};

Quality quality_of(const Packing& packing, const std::vector<PoolTemplate>& pools) {
  Quality quality{.claims = packing.drafts().claims().size()};
  for (const Outcome& outcome : packing.outcomes()) {
    quality.refused += outcome.kind == Outcome::Kind::Refused ? 1 : 0;
  }
  for (const ClaimDraft& claim : packing.drafts().claims()) {
    const auto cheapest =
        cheapest_row(pools[claim.pool], packing.drafts().shapes()[claim.shape], claim);
    quality.price += cheapest ? cheapest->price : 0;
  }
  return quality;
}

// Packs in several ways and keeps the best: most pods, then least money, then fewest claims, then
// the earlier way, of which Karpenter's is the first.
class BestPacking {
 public:
  BestPacking(const Problem& problem, const PodClasses& pods,
              const std::vector<PoolTemplate>& pools, const ExistingNodes& nodes,
              const Topology& topology)
      : problem_(problem), pods_(pods), pools_(pools), nodes_(nodes), topology_(topology) {}

  std::unique_ptr<Packing> find() {
    orders_ = pod_orders(pods_, pools_);
    // Which pods go to nodes that exist is settled before: repacking does not touch those.
    const bool has_nodes = !nodes_.nodes().empty();
    attempt({.order = orders_.front(), .repack = !has_nodes});
    if (problem_.options.economise) {
      // Without claims there is nothing to save.
      if (quality_.claims > 0 && !best_->repacked()) {
        attempt_others();
      }
      attempt_refused_first();
      if (has_nodes && quality_.claims > 0) {
        best_->repack();
        quality_ = quality_of(*best_, pools_);
        attempt_dearest_on_nodes();
      }
    }
    return std::move(best_);
  }

 private:
  void attempt_others() {
    if (pods_.classes.size() < 2) {
      return;
    }
    attempt({.order = orders_.front(), .fewest_pods_first = false});
    attempt({.order = orders_.front(), .keep_price_levels = true, .fewest_pods_first = false});
    Strategy strategy = chosen_;
    for (std::size_t i = 1; i < orders_.size(); ++i) {
      strategy.order = orders_[i];
      attempt(strategy);
    }
  }

  // Existing nodes, limits and reservations are scarce: pods that had no other choice may have come
  // too late for them. They come first now, and those that this refuses before them next time.
  void attempt_refused_first() {
    const bool scarce = !nodes_.nodes().empty() ||
                        std::any_of(pools_.begin(), pools_.end(), [](const PoolTemplate& pool) {
                          return pool.pool->limits.has_value();
                        });
    if (!scarce || pods_.classes.size() < 2) {
      return;
    }
    for (std::size_t before = quality_.refused + 1;
         0 < quality_.refused && quality_.refused < before;) {
      before = quality_.refused;
      auto& order = refused_first_.emplace_back(chosen_.order.begin(), chosen_.order.end());
      const auto& outcomes = best_->outcomes();
      std::stable_partition(order.begin(), order.end(), [&](std::uint32_t pod) {
        return outcomes[pod].kind == Outcome::Kind::Refused;
      });
      Strategy strategy = chosen_;
      strategy.order = order;
      attempt(strategy);
    }
  }

  void attempt_dearest_on_nodes() {
    const auto placed = dearest_on_nodes(pods_, pools_, nodes_, topology_, *best_);
    if (!placed.empty()) {
      Strategy strategy = chosen_;
      strategy.placed = placed;
      strategy.repack = true;
      attempt(strategy);
    }
  }

  void attempt(const Strategy& strategy) {
    auto packing = std::make_unique<Packing>(problem_, pods_, pools_, nodes_, topology_, strategy);
    packing->run();
    const Quality quality = quality_of(*packing, pools_);
    if (!best_ || quality < quality_) {
      best_ = std::move(packing);
      quality_ = quality;
      chosen_ = strategy;
    }
  }

  const Problem& problem_;
  const PodClasses& pods_;
  const std::vector<PoolTemplate>& pools_;
  const ExistingNodes& nodes_;
  const Topology& topology_;
  std::vector<std::vector<std::uint32_t>> orders_;
  std::vector<std::vector<std::uint32_t>> refused_first_;  // orders too
  std::unique_ptr<Packing> best_;
  Quality quality_;
  Strategy chosen_;
};

}  // namespace

Plan solve(const Problem& problem) {
  const std::vector<DaemonPod> daemons = daemon_pods(problem);
  const PodClasses pods = classify(problem, daemons);
  const std::vector<PoolTemplate> pools = pool_templates(problem, pods.columns, daemons);
  const ExistingNodes nodes(problem, pods, pools, daemons);
  const Topology topology(problem, pods, pools, nodes);
  const auto best = BestPacking(problem, pods, pools, nodes, topology).find();
  Packing& packing = *best;

  Plan plan;
  const auto fates = write_claims(problem, pods, pools, packing.drafts(), plan);
  std::map<std::uint32_t, Explanation> explained;  // by class
  for (std::uint32_t i = 0; i < pods.pods.size(); ++i) {
    const Outcome outcome = packing.outcomes()[i];
    const std::string& uid = pods.pods[i].pod->meta.uid;
    const std::uint32_t step = packing.steps()[i];
    if (outcome.kind == Outcome::Kind::Node) {
      plan.placements.push_back({uid, nodes.nodes()[outcome.index].record->name(), step});
    } else if (outcome.kind == Outcome::Kind::Claim) {
      const Fate& fate = fates[outcome.index];
      if (fate.claim) {
        plan.placements.push_back({uid, *fate.claim, step});
      } else {
        plan.refusals.push_back(
            {uid, fate.dropped, "lower minValues or allow more instance types"});
      }
    } else {
      const std::uint32_t pod_class = pods.pods[i].pod_class;
      auto [found, added] = explained.try_emplace(pod_class);
      if (added) {
        found->second = explain(pods, pods.classes[pod_class], pools, packing);
      }
      plan.refusals.push_back({uid, found->second.reason, found->second.remedy});
    }
  }
  const auto by_uid = [](const auto& a, const auto& b) { return a.pod_uid < b.pod_uid; };
  std::stable_sort(plan.placements.begin(), plan.placements.end(), by_uid);
  std::stable_sort(plan.refusals.begin(), plan.refusals.end(), by_uid);
  return plan;
}

}  // namespace millwright::scheduling
