#include "scheduling/search/repacking.hpp"

#include "scheduling/search/node_cost.hpp"
#include "scheduling/search/program/diving.hpp"
#include "scheduling/search/rebuilding.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace millwright::scheduling {
namespace {

// New claims must save this part of the price, or the old ones stay.
constexpr double kWorthRepacking = 1e-6;
// Lots looked at in all: after so many, no other pass is begun.
constexpr std::size_t kEnoughWork = 5'000'000;
// How much resources that are plenty weigh when pods are chosen, pass by pass.
constexpr std::array kFloors = {1.0, 0.5, 0.25, 1.0};
// After so much work, a pass that weighs them even less than one that lost is left out.
constexpr std::size_t kMuchWork = 1'000'000;
// More lots than these are too many for linear programs.
constexpr std::size_t kMaxDiveLots = 1'280;

}  // namespace

double Repacking::Contest::with_node_cost(double of, std::size_t count) const {
  return scheduling::with_node_cost(of, count, before);
}

void Repacking::Contest::enter(std::vector<ClaimDraft> entrants, double their_price) {
  const std::size_t count = entrants.size();
  const double with_nodes = with_node_cost(their_price, count);
  fewest = fewest == 0 ? count : std::min(fewest, count);
  if (with_nodes < least) {
    least = with_nodes;
    price = their_price;
    claims = count;
    winners = std::move(entrants);
  }
}

bool Repacking::run() {
  take_claims_apart();
  if (lots_.pods_left() < 2) {
    return false;
  }
  lots_.sort(search_.pools);
  pack_greedily();
  dive();
  may_save_more_ = Rebuilding::may_save(lots_, contest_.claims - kept_.size(),
                                        contest_.price - search_.price_of(kept_));
  return !contest_.winners.empty() &&
         search_.drafts.adopt(search_.pool, std::move(contest_.winners));
}

void Repacking::take_claims_apart() {
  double price = 0;
  std::size_t count = 0;
  for (const ClaimDraft& claim : search_.drafts.claims()) {
    if (claim.pool == search_.pool) {
      price += search_.price_of(claim);
      ++count;
      if (!lots_.take(claim)) {
        kept_.push_back(claim);
      }
    }
  }
  contest_ = {.before = count, .price = price, .claims = count};
  contest_.least = contest_.price * (1 - kWorthRepacking);
}

void Repacking::pack_greedily() {
  // Pods that are all alike have one order only.
  const std::size_t passes = lots_.lots().size() > 1 ? kFloors.size() : 1;
  bool lost = false;
  for (std::size_t pass = 0; pass < passes && greedy_.work() < kEnoughWork; ++pass) {
    if (lost && greedy_.work() > kMuchWork && kFloors[pass] < kFloors[pass - 1]) {
      continue;
    }
    PodLots waiting = lots_;
    std::vector<ClaimDraft> result = kept_;
    greedy_.begin_pass(waiting, kFloors[pass]);
    greedy_.fill_kept(waiting, result);
    if (!greedy_.pack(waiting, result)) {
      break;
    }
    const double price = search_.price_of(result);
    lost = price > contest_.price;
    contest_.enter(std::move(result), price);
    lots_.revalue(greedy_.paid());
  }
}

// Where pods that keep apart decide how many claims there are, it saves nothing to speak of. Each
// of several linear programs keeps its pods apart on claims of its own.
bool Repacking::worth_a_dive() const {
  const auto& all = lots_.lots();
  const std::size_t needed = lots_.claims_needed(Diving::programs(all.size()));
  if (all.size() > kMaxDiveLots || 4 * needed >= 3 * contest_.claims ||
      std::any_of(all.begin(), all.end(),
                  [](const Lot& lot) { return lot.shape == ShapeId::none(); })) {
    return false;
  }
  const double hoped_for = lots_.least() * (1 + kWorthADive);
  // It will hardly come to fewer claims than the passes did.
  return contest_.price > hoped_for && contest_.with_node_cost(search_.price_of(kept_) + hoped_for,
                                                               contest_.fewest) < contest_.least;
}

KnownLots Repacking::known_lots() const {
  KnownLots result{search_.pool, search_.price_of(kept_), kept_.size(), {}};
  for (const Lot& lot : lots_.lots()) {
    result.lots.push_back({*lot.requests,
                           search_.drafts.shapes()[lot.shape].requirements.to_string(), lot.least,
                           lot.left, lot.exclusive});
  }
  // Lots that are worth as much stand in the order in which their markets came up.
  std::sort(result.lots.begin(), result.lots.end());
  return result;
}

void Repacking::dive() {
  if (!worth_a_dive()) {
    return;
  }
  const auto [at, is_new] = programs_.try_emplace(known_lots());
  ProgramOutcome& outcome = at->second;
  if (!is_new && (outcome.claims == 0
                      ? outcome.price >= contest_.least
                      : contest_.with_node_cost(outcome.price, outcome.claims) >= contest_.least)) {
    return;
  }
  outcome = {0, contest_.least};
  std::vector<ClaimDraft> result = kept_;
  PodLots waiting = lots_;
  if (Diving(search_, greedy_).plan(waiting, contest_.least, result)) {
    outcome = {result.size(), search_.price_of(result)};
    contest_.enter(std::move(result), outcome.price);
  }
}

}  // namespace millwright::scheduling
