// The planner, step by step: compile the problem, pack, write claims, explain refusals.
#include "millwright/scheduling/solve.hpp"

#include "scheduling/compiled_problem.hpp"
#include "scheduling/default_spread.hpp"
#include "scheduling/node_filling.hpp"
#include "scheduling/plan_writing.hpp"
#include "scheduling/pod_orders.hpp"

#include <algorithm>
#include <compare>
#include <memory>
#include <utility>

namespace millwright::scheduling {
namespace {

// Of nodes and machines together, see NodeProgram.
constexpr int kMaxPrograms = 2;

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

// How many of each class; which of its pods they are makes no difference.
std::vector<std::size_t> refused_by_class(const Packing& packing, const PodClasses& pods) {
  std::vector<std::size_t> refused(pods.classes.size(), 0);
  for (std::size_t i = 0; i < pods.pods.size(); ++i) {
    refused[pods.pods[i].pod_class] += packing.outcomes()[i].kind == Outcome::Kind::Refused ? 1 : 0;
  }
  return refused;
}

// Packs in several ways and keeps the best: most pods, then least money, then fewest claims, then
// the earlier way, of which Karpenter's is the first.
class BestPacking {
 public:
  explicit BestPacking(const CompiledProblem& compiled)
      : problem_(compiled.problem),
        pods_(compiled.pods),
        pools_(compiled.pools),
        nodes_(compiled.nodes),
        topology_(compiled.topology) {}

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
    best_->place_among_nodes(problem_);
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

  // Prices follow from the plan that there is, so a better one may lead to a better one still.
  void attempt_dearest_on_nodes() {
    attempt_on_nodes(NodeValues::AsPaid);
    for (int i = 0; i < kMaxPrograms && attempt_on_nodes(NodeValues::ByProgram); ++i) {
    }
  }

  bool attempt_on_nodes(NodeValues by) {
    const auto placed = dearest_on_nodes(pods_, pools_, nodes_, topology_, *best_, by);
    if (placed.empty() || quality_.claims == 0) {
      return false;
    }
    const Quality before = quality_;
    Strategy strategy = chosen_;
    strategy.placed = placed;
    strategy.repack = true;
    attempt(strategy);
    return quality_ < before;
  }

  void attempt(Strategy strategy) {
    strategy.programs = programs_;
    auto packing = std::make_unique<Packing>(problem_, pods_, pools_, nodes_, topology_, strategy);
    packing->run();
    const Quality quality = quality_of(*packing, pools_);
    // A plan that refuses others instead is not the better one for costing less.
    if (!best_ || quality.refused < quality_.refused ||
        (quality < quality_ && (quality.refused == 0 || refused_by_class(*packing, pods_) ==
                                                            refused_by_class(*best_, pods_)))) {
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
  std::shared_ptr<ProgramMemory> programs_ = std::make_shared<ProgramMemory>();
  std::unique_ptr<Packing> best_;
  Quality quality_;
  Strategy chosen_;
};

}  // namespace

CompiledProblem::CompiledProblem(const Problem& of, PlanMemory::Compiled memory)
    : problem(of),
      daemons(daemon_pods(problem)),
      pods(classify(problem, daemons)),
      pools(pool_templates(problem, pods.columns, daemons, std::move(memory.pools))),
      nodes(problem, pods, pools, daemons, std::move(memory.nodes)),
      topology(problem, pods, pools, nodes) {}

PlanMemory::Compiled CompiledProblem::release() && {
  return {.pools = {pods.columns, daemons, std::move(pools)},
          .nodes = {pods.columns, daemons, std::move(nodes).release()}};
}

std::unique_ptr<Packing> best_packing(const CompiledProblem& compiled) {
  return BestPacking(compiled).find();
}

PlanMemory::PlanMemory() : compiled_(std::make_unique<Compiled>()) {}
PlanMemory::PlanMemory(PlanMemory&&) noexcept = default;
PlanMemory& PlanMemory::operator=(PlanMemory&&) noexcept = default;
PlanMemory::~PlanMemory() = default;

std::vector<PoolProblem> PlanMemory::pool_problems() const {
  std::vector<PoolProblem> problems;
  for (const auto& pool : compiled_->pools.pools) {
    if (!pool.problem.empty()) {
      problems.push_back({pool.name(), pool.problem});
    }
  }
  return problems;
}

Plan solve(const Problem& problem) {
  PlanMemory nothing;
  return solve(problem, nothing);
}

Plan solve(const Problem& problem, PlanMemory& memory) {
  if (!problem.options.default_spread.empty()) {
    return solve(with_default_spread(problem), memory);
  }
  CompiledProblem compiled(problem, std::move(*memory.compiled_));
  const auto packing = best_packing(compiled);
  ClaimWriter writer(problem, compiled.pods, compiled.pools, packing->drafts().shapes());
  std::vector<WrittenClaim> claims;
  for (const ClaimDraft& draft : packing->drafts().claims()) {
    claims.push_back(write_claim(writer, draft));
  }
  Plan plan = write_plan(compiled, *packing, std::move(claims), {});
  *memory.compiled_ = std::move(compiled).release();
  return plan;
}

}  // namespace millwright::scheduling
