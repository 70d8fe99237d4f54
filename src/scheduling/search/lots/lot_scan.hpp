// Finds the lot that suits the room left on a claim best, again and again while the claim is
// filled. The room only shrinks, so a lot that has been too large once is not looked at again. This
// is the innermost loop of the search.
#pragma once

#include "scheduling/search/lots/attractions.hpp"
#include "scheduling/search/lots/pod_lots.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace millwright::scheduling {

class LotScan {
 public:
  // Begins a pass over the lots, with the pods that they have now.
  void reset(const PodLots& lots);
  // Begins a claim for which these lots are looked at. `prices`: what a unit of room is worth; the
  // scan keeps a reference.
  void begin(const PodLots& lots, SuitorsPtr suitors, std::span<const double> prices);
  // The best of the lots that have pods and are not closed; none when no lot fits. `left` must not
  // be more than the last time.
  std::optional<LotId> best(const Amounts& left);
  // Notes that a pod of the lot has joined the claim.
  void take(LotId lot) { --available_[lot]; }
  // Leaves the lot out until the next claim.
  void close(LotId lot) { available_[lot] = 0; }
  // Closes the lots for which the condition holds.
  template <class Condition>
  void close_if(Condition condition) {
    for (const std::uint32_t place : active_) {
      const LotId lot = lot_at(place);
      if (available_[lot] > 0 && condition(lot)) {
        available_[lot] = 0;
      }
    }
  }
  // What it has done in all passes: lots looked at, and a little for each call of best().
  std::size_t work() const { return work_; }

 private:
  bool may_join(LotId lot, const Amounts& left) const;
  LotId lot_at(std::uint32_t place) const { return suitors_->lots[place]; }
  std::optional<LotId> best_of_some(const Amounts& left, std::size_t stride);
  void line_up(std::size_t columns);
  std::optional<LotId> best_in_line(const Amounts& left);

  std::vector<std::int64_t> requests_;  // by lot and column
  ById<LotId, double> least_;           // see Lot
  SuitorsPtr suitors_;
  std::vector<std::uint32_t> active_;   // places of those that had pods when the claim was begun
  ById<LotId, std::size_t> available_;  // pods that may join
  std::span<const double> prices_;
  std::size_t first_ = 0;  // active ones before this one are too large

  // Once few lots are left, their numbers are lined up in arrays of their own, which are quicker to
  // go through: number i of those belongs to active_[line_begin_ + i].
  std::size_t line_begin_ = 0;
  std::vector<double> line_;      // by column and number: the attraction
  std::vector<double> handicap_;  // minus infinity for lots that may not join; empty: no line yet
  std::vector<double> scores_;
  std::size_t work_ = 0;
};

}  // namespace millwright::scheduling
