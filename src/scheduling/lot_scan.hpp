// Which lot suits the room that is left best, asked again and again while one claim is filled. Room
// only shrinks meanwhile, so a lot that is too large once is not looked at again.
#pragma once

#include "scheduling/pod_lots.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace millwright::scheduling {

class LotScan {
 public:
  // A pass over the lots begins: they have the pods that they have now.
  void reset(const PodLots& lots);
  // A claim begins. `attraction`: by lot and column, how much what is left of the resource speaks
  // for the lot; `prices`: what room is worth. Both must stay where they are.
  void begin(const PodLots& lots, std::span<const double> attraction,
             std::span<const double> prices);
  // Of the lots that have pods and are not closed. What is left is no more than the last time.
  std::optional<std::uint32_t> best(const Amounts& left);
  // A pod of it has joined the claim.
  void take(std::uint32_t lot) { --available_[lot]; }
  // None of it may join.
  void close(std::uint32_t lot) { available_[lot] = 0; }
  // Closes those of the condition.
  template <class Condition>
  void close_if(Condition condition) {
    for (const std::uint32_t lot : active_) {
      if (available_[lot] > 0 && condition(lot)) {
        available_[lot] = 0;
      }
    }
  }
  // Lots looked at, in all passes; and something for each pod that was looked for.
  std::size_t work() const { return work_; }

 private:
  bool may_join(std::uint32_t lot, const Amounts& left) const;
  std::optional<std::uint32_t> best_of_some(const Amounts& left, std::size_t stride);
  void line_up(std::size_t columns);
  std::optional<std::uint32_t> best_in_line(const Amounts& left);

  std::vector<std::int64_t> requests_;  // by lot and column
  std::vector<double> least_;           // by lot, see Lot
  std::vector<std::uint32_t> active_;  // lots that had pods when the claim was begun, dearest first
  std::vector<std::size_t> available_;  // by lot: pods that may join
  std::span<const double> attraction_;
  std::span<const double> prices_;
  std::size_t first_ = 0;  // of the active lots that are small enough

  // Once those are few, or few of them may join, they stand side by side, which is quicker to go
  // through: line_[i] is active_[line_begin_ + i].
  std::size_t line_begin_ = 0;
  std::vector<double> line_;      // by column and place: their attraction
  std::vector<double> handicap_;  // minus infinity for those that may not join; empty: no line yet
  std::vector<double> scores_;
  std::size_t work_ = 0;
};

}  // namespace millwright::scheduling
