#include "scheduling/search/exact/exact_search.hpp"

#include "scheduling/search/exact/loading_repair.hpp"

#include <algorithm>

namespace millwright::scheduling {
namespace {

// What must be saved, as a part of the price.
constexpr double kWorthFinding = 1e-5;
// The covers up to the plan's price are listed in so many steps; each looks at prices twice as far
// above the bound as the one before it.
constexpr int kSteps = 5;
// Covers of a step that are tried in vain before the next step, when it is not certain that they
// hold no plan.
constexpr int kTriesInVain = 12;
// To try all ways to put the pods on machines is hopeless if there are more lots than these.
constexpr std::size_t kFewLots = 16;
constexpr std::size_t kTreeWork = 20'000;

}  // namespace

ExactSearch::Outcome ExactSearch::run(double price, std::size_t claims, std::size_t& work) {
  MachineCovers covers(market_, claims, work);
  Outcome outcome{.cost = price, .at_least = std::min(covers.at_least(), price)};
  const double bound = outcome.at_least;
  const double end = price * (1 - kWorthFinding);
  certain_ = true;
  double from = 0;
  for (int step = kSteps; step-- > 0;) {
    const double below = bound + (end - bound) / (1 << step);
    const auto found = covers.between(from, below, work);
    // Some may be missing.
    certain_ = certain_ && work > 0;
    if (try_covers(found, outcome, work) == Search::Ended) {
      return outcome;
    }
    from = below;
    outcome.at_least = certain_ ? std::max(bound, below) : outcome.at_least;
  }
  outcome.at_least = certain_ ? price : outcome.at_least;
  return outcome;
}

ExactSearch::Search ExactSearch::try_covers(const std::vector<MachineCover>& covers,
                                            Outcome& outcome, std::size_t& work) {
  int in_vain = 0;
  for (const MachineCover& cover : covers) {
    if (work == 0 || in_vain == kTriesInVain) {
      break;
    }
    outcome.at_least = certain_ ? cover.cost : outcome.at_least;
    const auto answer = load_onto(cover, work);
    if (answer == LoadingTree::Answer::Fits) {
      outcome.fills = bins_.fills();
      outcome.cost = cover.cost;
      return Search::Ended;
    }
    if (answer == LoadingTree::Answer::NotKnown) {
      certain_ = false;
      ++in_vain;
    }
  }
  return work > 0 ? Search::GoesOn : Search::Ended;
}

LoadingTree::Answer ExactSearch::load_onto(const MachineCover& cover, std::size_t& work) {
  bins_.begin(cover.machines);
  if (load(bins_, work)) {
    return LoadingTree::Answer::Fits;
  }
  if (bins_.lots() > kFewLots) {
    return LoadingTree::Answer::NotKnown;
  }
  bins_.begin(cover.machines);
  std::size_t share = std::min(work, kTreeWork);
  work -= share;
  const auto answer = tree_.run(share);
  work += share;
  return answer;
}

}  // namespace millwright::scheduling
