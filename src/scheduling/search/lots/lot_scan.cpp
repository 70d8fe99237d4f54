#include "scheduling/search/lots/lot_scan.hpp"

#include <algorithm>
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
}

void LotScan::begin(const PodLots& lots, SuitorsPtr suitors, std::span<const double> prices) {
  if (suitors_ != suitors) {
    suitors_ = std::move(suitors);
    active_.resize(suitors_->lots.size());
    std::iota(active_.begin(), active_.end(), 0U);
  }
  prices_ = prices;
  first_ = 0;
  handicap_.clear();
  const auto& all = lots.lots();
  std::erase_if(active_, [&](std::uint32_t place) { return all[lot_at(place)].left == 0; });
  for (const std::uint32_t place : active_) {
    available_[lot_at(place)] = all[lot_at(place)].left;
  }
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
  const std::size_t stride = handicap_.empty() ? count / kMaxScannedLots + 1 : 1;
  work_ += count / stride + kPerPod;
  if (count == 0) {
    return std::nullopt;
  }
  if (stride > 1) {
    if (const auto found = best_of_some(left, stride)) {
      return found;
    }
    // Few can still join, if any: worth a look at each.
    work_ += count;
  }
  if (handicap_.empty()) {
    line_up(left.size());
  }
  return best_in_line(left);
}

// A lot's score is large where its pods are large in what there is much of.
std::optional<LotId> LotScan::best_of_some(const Amounts& left, std::size_t stride) {
  const std::size_t columns = left.size();
  std::optional<LotId> best;
  double most = -1;
  for (std::size_t i = first_; i < active_.size(); i += stride) {
    const LotId lot = lot_at(active_[i]);
    const double* attraction = &suitors_->attraction[active_[i] * columns];
    double score = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      score += attraction[c] * static_cast<double>(left[c]);
    }
    if (score > most && may_join(lot, left)) {
      best = lot;
      most = score;
    }
  }
  return best;
}

void LotScan::line_up(std::size_t columns) {
  line_begin_ = first_;
  const std::size_t count = active_.size() - first_;
  line_.resize(count * columns);
  scores_.resize(count);
  handicap_.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const double* attraction = &suitors_->attraction[active_[line_begin_ + i] * columns];
    for (std::size_t c = 0; c < columns; ++c) {
      line_[c * count + i] = attraction[c];
    }
  }
}

std::optional<LotId> LotScan::best_in_line(const Amounts& left) {
  const std::size_t count = handicap_.size();
  const std::size_t begin = first_ - line_begin_;
  double* scores = scores_.data();
  std::copy(handicap_.begin() + static_cast<std::ptrdiff_t>(begin), handicap_.end(),
            scores + begin);
  for (std::size_t c = 0; c < left.size(); ++c) {
    const double* attraction = &line_[c * count];
    const auto much = static_cast<double>(left[c]);
    for (std::size_t i = begin; i < count; ++i) {
      scores[i] += attraction[i] * much;
    }
  }
  std::optional<LotId> best;
  double most = -1;
  for (std::size_t i = begin; i < count; ++i) {
    if (scores[i] > most) {
      const LotId lot = lot_at(active_[line_begin_ + i]);
      if (may_join(lot, left)) {
        best = lot;
        most = scores[i];
      } else {
        handicap_[i] = kNever;
      }
    }
  }
  return best;
}

}  // namespace millwright::scheduling
