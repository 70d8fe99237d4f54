#include "scheduling/search/lots/lot_scan.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr double kRounding = 1 + 1e-9;
constexpr double kNever = -std::numeric_limits<double>::infinity();
// With more lots than this, only every second (or third, ...) is looked at for a pod, as long as
// one of those may join.
constexpr std::size_t kMaxScannedLots = 192;
// What a call of best() costs besides, in lots looked at.
constexpr std::size_t kPerPod = 32;
// Lots that are scored together.
constexpr std::size_t kBlock = 16;

void add_scores(std::array<double, kBlock>& scores, const double* attraction, double much) {
#pragma GCC unroll 1
  for (std::size_t i = 0; i < kBlock; ++i) {
    scores[i] += attraction[i] * much;
  }
}

// In a tree, so that the compiler takes several at a time.
double largest(std::array<double, kBlock> values) {
  for (std::size_t half = kBlock / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      values[i] = values[i] > values[i + half] ? values[i] : values[i + half];
    }
  }
  return values[0];
}

}  // namespace

void LotScan::reset(const PodLots& lots) {
  const auto& all = lots.lots();
  requests_.clear();
  least_.clear();
  for (const Lot& lot : all) {
    requests_.insert(requests_.end(), lot.requests->begin(), lot.requests->end());
    least_.push_back(lot.least);
  }
  suitors_ = nullptr;
  available_.resize(all.size());
  touched_.clear();
}

void LotScan::begin(const PodLots& lots, SuitorsPtr suitors, std::span<const double> prices) {
  const auto& all = lots.lots();
  const std::vector<LotId>& departures = lots.departures();
  const auto is_empty = [&](std::uint32_t place) { return all[lot_at(place)].left == 0; };
  if (suitors_ != suitors) {
    suitors_ = std::move(suitors);
    active_.resize(suitors_->lots.size());
    std::iota(active_.begin(), active_.end(), 0U);
    std::erase_if(active_, is_empty);
    for (const std::uint32_t place : active_) {
      available_[lot_at(place)] = all[lot_at(place)].left;
    }
  } else {
    // Most claims are only filled in mind, and what they touch is little beside all lots.
    bool any_empty = false;
    for (std::size_t i = left_before_; i < departures.size(); ++i) {
      touched_.push_back(departures[i]);
      any_empty = any_empty || all[departures[i]].left == 0;
    }
    for (const LotId lot : touched_) {
      available_[lot] = all[lot].left;
    }
    if (any_empty) {
      std::erase_if(active_, is_empty);
    }
  }
  left_before_ = departures.size();
  touched_.clear();
  prices_ = prices;
  first_ = 0;
  line_stride_ = 0;
  all_in_line_ = false;
}

bool LotScan::may_join(LotId lot, const Amounts& left) const {
  const std::int64_t* requests = &requests_[lot.index() * left.size()];
  bool fits = available_[lot] > 0;
  for (std::size_t c = 0; fits && c < left.size(); ++c) {
    fits = left[c] >= 0 && requests[c] <= left[c];
  }
  return fits;
}

std::optional<LotId> LotScan::best(const Amounts& left) {
  const double room = worth(left, prices_) * kRounding;
  const auto small_enough =
      std::partition_point(active_.begin() + static_cast<std::ptrdiff_t>(first_), active_.end(),
                           [&](std::uint32_t place) { return least_[lot_at(place)] > room; });
  first_ = static_cast<std::size_t>(small_enough - active_.begin());
  const std::size_t count = active_.size() - first_;
  const std::size_t stride = all_in_line_ ? 1 : count / kMaxScannedLots + 1;
  work_ += count / stride + kPerPod;
  if (count == 0) {
    return std::nullopt;
  }
  if (stride > 1) {
    if (line_begin_ != first_ || line_stride_ != stride) {
      line_up(stride, left);
      line_begin_ = first_;
      line_stride_ = stride;
    }
    if (const auto found = best_in_line(left)) {
      return found;
    }
    // Few can still join, if any: worth a look at each.
    work_ += count;
  }
  if (!all_in_line_) {
    all_in_line_ = true;
    line_up(1, left);
  }
  return best_in_line(left);
}

void LotScan::line_up(std::size_t stride, const Amounts& left) {
  const std::size_t columns = left.size();
  order_.clear();
  for (std::size_t i = first_; i < active_.size(); i += stride) {
    // Later there is less room still.
    if (may_join(lot_at(active_[i]), left)) {
      const double* attraction = &suitors_->attraction[active_[i] * columns];
      double score = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        score += attraction[c] * static_cast<double>(left[c]);
      }
      order_.emplace_back(-score, active_[i]);
    }
  }
  std::sort(order_.begin(), order_.end());
  line_.clear();
  attraction_.clear();
  handicap_.clear();
  most_.clear();
  for (const auto& [minus_score, place] : order_) {
    add_to_line(place, -minus_score, columns);
  }
}

void LotScan::add_to_line(std::uint32_t place, double score, std::size_t columns) {
  const std::size_t in_block = line_.size() % kBlock;
  if (in_block == 0) {
    attraction_.resize(attraction_.size() + kBlock * columns);
    handicap_.resize(handicap_.size() + kBlock, kNever);
    most_.push_back(score);
  }
  const double* attraction = &suitors_->attraction[place * columns];
  double* block = &attraction_[(most_.size() - 1) * kBlock * columns];
  for (std::size_t c = 0; c < columns; ++c) {
    block[c * kBlock + in_block] = attraction[c];
  }
  handicap_[line_.size()] = 0;
  line_.push_back(place);
}

// A lot's score is large where its pods are large in what there is much of. Of lots that score
// alike, the first.
std::optional<LotId> LotScan::best_in_line(const Amounts& left) {
  room_.assign(left.begin(), left.end());
  Best best;
  for (std::size_t block = 0; block < most_.size(); ++block) {
    if (most_[block] >= best.score) {
      look_at_block(block, left, best);
    }
  }
  return best.score < 0 ? std::nullopt : std::optional(lot_at(best.place));
}

void LotScan::look_at_block(std::size_t block, const Amounts& left, Best& best) {
  std::array<double, kBlock> scores;
  double* handicap = &handicap_[block * kBlock];
  std::copy_n(handicap, kBlock, scores.begin());
  const double* attraction = &attraction_[block * kBlock * room_.size()];
  for (std::size_t c = 0; c < room_.size(); ++c, attraction += kBlock) {
    add_scores(scores, attraction, room_[c]);
  }
  most_[block] = largest(scores);
  if (most_[block] < best.score) {
    return;
  }
  const std::size_t end = std::min(kBlock, line_.size() - block * kBlock);
  for (std::size_t i = 0; i < end; ++i) {
    const std::uint32_t place = line_[block * kBlock + i];
    if (!best.gives_way_to(scores[i], place)) {
      continue;
    }
    // Those before the first are worth more than what is left.
    if (place >= active_[first_] && may_join(lot_at(place), left)) {
      best = {place, scores[i]};
    } else {
      handicap[i] = kNever;
    }
  }
}

}  // namespace millwright::scheduling
