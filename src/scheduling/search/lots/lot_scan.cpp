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
constexpr std::size_t kBlock = Suitors::kBlock;

using Scores = std::array<double, kBlock>;

// The number of columns is a constant for the usual ones, so that scores stay in registers.
template <std::size_t kColumns>
void add_scores(Scores& scores, const double* attraction, const double* room) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      scores[i] += attraction[c * kBlock + i] * room[c];
    }
  }
}

void add_scores(Scores& scores, const double* attraction, std::span<const double> room) {
  switch (room.size()) {
    case 2:
      return add_scores<2>(scores, attraction, room.data());
    case 3:
      return add_scores<3>(scores, attraction, room.data());
    case 4:
      return add_scores<4>(scores, attraction, room.data());
    default:
      for (std::size_t c = 0; c < room.size(); ++c) {
        add_scores<1>(scores, attraction + c * kBlock, &room[c]);
      }
  }
}

// Two halves, so that the compiler takes several at a time.
double largest(const Scores& scores) {
  std::array<double, 4> most{scores[0], scores[1], scores[2], scores[3]};
  for (std::size_t i = 4; i < kBlock; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) {
      most[j] = most[j] > scores[i + j] ? most[j] : scores[i + j];
    }
  }
  return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
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
  trails_.clear();
  trail_ = nullptr;
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
    active_from_.clear();
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
      active_from_.clear();
    }
  }
  left_before_ = departures.size();
  touched_.clear();
  prices_ = prices;
  first_ = 0;
  line_stride_ = 0;
  all_in_line_ = false;
  trail_ = nullptr;
}

std::size_t LotScan::count_active(std::uint32_t from) {
  if (!active_from_.empty()) {
    return active_from_[from];
  }
  active_from_.resize(suitors_->lots.size() + 1);
  std::size_t place = active_from_.size();
  for (std::size_t i = active_.size(); i-- > 0;) {
    const auto after = static_cast<std::uint32_t>(active_.size() - 1 - i);
    for (; place > active_[i] + 1; --place) {
      active_from_[place - 1] = after;
    }
  }
  std::fill_n(active_from_.begin(), place, static_cast<std::uint32_t>(active_.size()));
  return active_from_[from];
}

void LotScan::follow(const ClaimStart& start) {
  trail_ = &trails_.of(start);
  step_ = 0;
  closings_ = 0;
  is_outcome_due_ = false;
}

void LotScan::note(ScanTrail::Outcome outcome) {
  if (trail_ == nullptr || !is_outcome_due_) {
    return;
  }
  is_outcome_due_ = false;
  ScanTrail::Step& last = (*trail_)[step_ - 1];
  if (last.outcome != outcome) {
    last.outcome = outcome;
    trail_->cut(step_, closings_);
  }
}

// Lots that were left out the last time and may join now could suit better than what was found. And
// if more are left out than then, what is found from here on holds for claims that leave out as
// many.
void LotScan::note_closing(std::span<const LotId> closed) {
  if (trail_ == nullptr) {
    return;
  }
  if (closings_ < trail_->closings()) {
    const auto before = trail_->closed(closings_);
    auto known = before.begin();
    const bool more_are_closed = std::any_of(closed.begin(), closed.end(), [&](LotId lot) {
      known = std::find(known, before.end(), lot);
      return known == before.end();
    });
    if (more_are_closed || std::any_of(before.begin(), before.end(),
                                       [this](LotId lot) { return available_[lot] > 0; })) {
      trail_->cut(step_, closings_);
    }
  }
  if (closings_ == trail_->closings()) {
    trail_->add_closing(closed);
  }
  ++closings_;
}

const ScanTrail::Step* LotScan::next_of_trail() {
  if (step_ < trail_->size()) {
    const ScanTrail::Step& next = (*trail_)[step_];
    if (next.lot == LotId::none() || available_[next.lot] > 0) {
      return &next;
    }
    trail_->cut(step_, closings_);
  }
  return nullptr;
}

std::optional<LotId> LotScan::best(const Amounts& left) {
  if (trail_ == nullptr) {
    return look(left);
  }
  std::optional<LotId> found;
  if (const ScanTrail::Step* known = next_of_trail()) {
    work_ += count_active(known->place) + kPerPod;
    if (known->lot != LotId::none()) {
      found = known->lot;
    }
  } else {
    found = look(left);
    if (line_stride_ > 0) {
      // Which lots were looked at depends on how many there are.
      trail_ = nullptr;
      return found;
    }
    trail_->add({found.value_or(LotId::none()),
                 first_ < active_.size() ? active_[first_]
                                         : static_cast<std::uint32_t>(suitors_->lots.size())});
  }
  ++step_;
  is_outcome_due_ = true;
  return found;
}

bool LotScan::may_join(LotId lot, const Amounts& left) const {
  const std::int64_t* requests = &requests_[lot.index() * left.size()];
  bool fits = available_[lot] > 0;
  for (std::size_t c = 0; fits && c < left.size(); ++c) {
    fits = left[c] >= 0 && requests[c] <= left[c];
  }
  return fits;
}

std::optional<LotId> LotScan::look(const Amounts& left) {
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
    // Few of very many may join, and are better looked at by themselves.
    if (suitors_->lots.size() > kMaxScannedLots) {
      line_up(1, left);
    } else {
      line_up_all(left);
    }
  }
  return best_in_line(left);
}

void LotScan::line_up(std::size_t stride, const Amounts& left) {
  const std::size_t columns = left.size();
  order_.clear();
  for (std::size_t i = first_; i < active_.size(); i += stride) {
    // Later there is less room still.
    if (may_join(lot_at(active_[i]), left)) {
      const std::size_t position = suitors_->position[active_[i]];
      const double* attraction = suitors_->of(position, columns);
      double score = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        score += attraction[c * kBlock] * static_cast<double>(left[c]);
      }
      order_.emplace_back(-score, active_[i]);
    }
  }
  std::sort(order_.begin(), order_.end());
  const std::size_t blocks = (order_.size() + kBlock - 1) / kBlock;
  own_line_.clear();
  own_attraction_.assign(blocks * columns * kBlock, 0);
  handicap_.assign(blocks * kBlock, kNever);
  most_.clear();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto [minus_score, place] = order_[i];
    if (i % kBlock == 0) {
      most_.push_back(-minus_score);
    }
    const double* from = suitors_->of(suitors_->position[place], columns);
    double* to = &own_attraction_[i / kBlock * kBlock * columns + i % kBlock];
    for (std::size_t c = 0; c < columns; ++c) {
      to[c * kBlock] = from[c * kBlock];
    }
    own_line_.push_back(place);
    handicap_[i] = 0;
  }
  line_ = own_line_.data();
  attraction_ = own_attraction_.data();
}

void LotScan::line_up_all(const Amounts& left) {
  const std::size_t columns = left.size();
  handicap_.assign(suitors_->blocks() * kBlock, kNever);
  most_.assign(suitors_->blocks(), kNever);
  for (std::size_t i = first_; i < active_.size(); ++i) {
    const std::size_t position = suitors_->position[active_[i]];
    handicap_[position] = 0;
    if (double& most = most_[position / kBlock]; most == kNever) {
      const double* attraction = &suitors_->most[position / kBlock * columns];
      most = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        most += attraction[c] * static_cast<double>(left[c]);
      }
    }
  }
  line_ = suitors_->in_blocks.data();
  attraction_ = suitors_->attraction.data();
}

// A lot's score is large where its pods are large in what there is much of. Of lots that score
// alike, the first.
std::optional<LotId> LotScan::best_in_line(const Amounts& left) {
  room_.assign(left.begin(), left.end());
  Best best;
  // The most promising block first: the others are often passed over then.
  const auto promising =
      static_cast<std::size_t>(std::max_element(most_.begin(), most_.end()) - most_.begin());
  if (promising < most_.size()) {
    look_at_block(promising, left, best);
  }
  for (std::size_t block = 0; block < most_.size(); ++block) {
    if (most_[block] >= best.score && block != promising) {
      look_at_block(block, left, best);
    }
  }
  return best.score < 0 ? std::nullopt : std::optional(lot_at(best.place));
}

void LotScan::look_at_block(std::size_t block, const Amounts& left, Best& best) {
  Scores scores;
  double* handicap = &handicap_[block * kBlock];
  std::copy_n(handicap, kBlock, scores.begin());
  add_scores(scores, attraction_ + block * kBlock * room_.size(), room_);
  most_[block] = largest(scores);
  if (most_[block] < best.score) {
    return;
  }
  for (std::size_t i = 0; i < kBlock; ++i) {
    if (scores[i] < best.score) {
      continue;
    }
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
