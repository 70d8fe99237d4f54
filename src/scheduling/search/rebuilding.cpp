#include "scheduling/search/rebuilding.hpp"

#include "scheduling/search/exact/exact_search.hpp"
#include "scheduling/search/filling/greedy_packing.hpp"
#include "scheduling/search/filling/sold_machines.hpp"
#include "scheduling/search/node_cost.hpp"
#include "scheduling/search/program/ruin_and_recreate.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace millwright::scheduling {
namespace {

// What there must be to win, as a part of the price.
constexpr double kWorthRebuilding = 0.003;
// How much work may be done, see RuinAndRecreate: to begin with, and per claim.
constexpr std::size_t kRebuildingWork = 5'000'000;
constexpr std::size_t kWorkPerClaim = 50'000;
constexpr std::size_t kMaxRebuildingWork = 100'000'000;
// With more claims there are too many sets of machines for an exact search. Its work:
constexpr std::size_t kFewForExact = 12;
constexpr std::size_t kExactWorkPerPod = 2'000;
constexpr std::size_t kMaxExactWork = 2'000'000;
// No more is looked for where no plan costs less than this part of what it has found.
constexpr double kAsGoodAsProven = 0.999;

}  // namespace

bool Rebuilding::may_save(const PodLots& lots, std::size_t claims, double price) {
  // Where pods that keep apart decide how many claims there are, it saves nothing to speak of.
  return 100 * lots.claims_needed() < 97 * claims &&
         lots.least() < price * (1 - kWorthRebuilding) &&
         std::none_of(lots.lots().begin(), lots.lots().end(),
                      [](const Lot& lot) { return lot.shape == ShapeId::none(); });
}

bool Rebuilding::run() {
  take_claims_apart();
  if (lots_.pods_left() < 2) {
    return false;
  }
  lots_.sort(search_.pools, PodLots::Apart::ByGroup);
  const double before = search_.price_of(apart_);
  auto fills = fills_of_claims();
  if (!fills || !may_save(lots_, apart_.size(), before) || !improve(*fills)) {
    return false;
  }
  std::vector<ClaimDraft> result;
  if (!build(*fills, result) ||
      with_node_cost(search_.price_of(result), result.size(), apart_.size()) >= before) {
    return false;
  }
  std::vector<ClaimDraft> claims = std::move(kept_);
  std::move(result.begin(), result.end(), std::back_inserter(claims));
  return search_.drafts.adopt(search_.pool, std::move(claims));
}

void Rebuilding::take_claims_apart() {
  for (const ClaimDraft& claim : search_.drafts.claims()) {
    if (claim.pool == search_.pool) {
      (lots_.take(claim) ? apart_ : kept_).push_back(claim);
    }
  }
}

std::optional<std::vector<Fill>> Rebuilding::fills_of_claims() const {
  std::map<PodId, LotId> lot_of;
  for (LotId lot; lot < lots_.lots().end_id(); ++lot) {
    for (const std::uint32_t item : lots_.lots()[lot].items) {
      for (const PodId pod : lots_.items()[item].pods) {
        lot_of[pod] = lot;
      }
    }
  }
  std::vector<Fill> result;
  for (const ClaimDraft& claim : apart_) {
    const auto cheapest = search_.cheapest(claim);
    if (!cheapest) {
      return std::nullopt;
    }
    std::map<LotId, std::uint32_t> pods;
    for (const PodId pod : claim.pods) {
      ++pods[lot_of.at(pod)];
    }
    result.push_back({cheapest->row, cheapest->price, {pods.begin(), pods.end()}});
  }
  return result;
}

bool Rebuilding::improve(std::vector<Fill>& fills) const {
  const auto machines = machines_for(lots_, search_.pool_template(), search_.drafts.shapes());
  ById<LotId, double> values;
  ById<LotId, std::size_t> most;
  for (const Lot& lot : lots_.lots()) {
    values.push_back(lot.least);
    most.push_back(lots_.most_together(lot));
  }
  const double price = search_.price_of(apart_);
  const std::size_t claims = apart_.size();
  return improve(fills, {.lots = lots_,
                         .machines = machines,
                         .values = values,
                         .most = most,
                         .node_cost = with_node_cost(price, claims + 1, claims) - price});
}

bool Rebuilding::improve(std::vector<Fill>& fills, const FillSearch::Market& market) const {
  const std::size_t claims = apart_.size();
  ExactSearch::Outcome exact;
  if (claims <= kFewForExact) {
    std::size_t work = std::min(kExactWorkPerPod * lots_.pods_left(), kMaxExactWork);
    exact = ExactSearch(market).run(cost_of(fills), claims, work);
    if (!exact.fills.empty()) {
      fills = exact.fills;
    }
    if (exact.at_least >= kAsGoodAsProven * exact.cost) {
      return !exact.fills.empty();
    }
  }
  const std::size_t work = std::min(kRebuildingWork + kWorkPerClaim * claims, kMaxRebuildingWork);
  const bool improved = RuinAndRecreate(market).run(fills, work);
  // To it, fewer claims than before are worth something, too.
  if (!exact.fills.empty() && cost_of(fills) > cost_of(exact.fills)) {
    fills = std::move(exact.fills);
  }
  return improved || !exact.fills.empty();
}

double Rebuilding::cost_of(const std::vector<Fill>& fills) const {
  double price = 0;
  for (const Fill& fill : fills) {
    price += fill.price;
  }
  return with_node_cost(price, fills.size(), apart_.size());
}

bool Rebuilding::build(const std::vector<Fill>& fills, std::vector<ClaimDraft>& result) const {
  GreedyPacking greedy(search_);
  PodLots waiting = lots_;
  greedy.begin_pass(waiting, 1);
  greedy.turn_to(waiting);
  for (const Fill& fill : fills) {
    if (!greedy.filling().build(waiting, fill, result)) {
      return false;
    }
  }
  // Fills do not know every rule about sharing a node.
  return greedy.pack(waiting, result);
}

}  // namespace millwright::scheduling
