// Finds the lot that suits the room left on a claim best, again and again while the claim is
// filled. The room only shrinks. So a lot that has been too large once is not looked at again, and
// what a lot scored the last time is the most that it can score now: lots that scored less than the
// best of now are not scored again. This is the innermost loop of the search.
#pragma once

#include "scheduling/search/lots/attractions.hpp"
#include "scheduling/search/lots/pod_lots.hpp"
#include "scheduling/search/lots/scan_trails.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace millwright::scheduling {

class LotScan {
 public:
  // Begins a pass over the lots, with the pods that they have now.
  void reset(const PodLots& lots);
  // Begins a claim for which these lots are looked at. `lots` are those of reset(), less pods that
  // have left since. `prices`: what a unit of room is worth; the scan keeps a reference.
  void begin(const PodLots& lots, SuitorsPtr suitors, std::span<const double> prices);
  // After begin(): the claim goes the way of those that began alike since reset(). What best() is
  // asked, and what becomes of the lots that it finds, may depend on the way alone. The answers are
  // those of a scan that looks at all lots.
  void follow(const ClaimStart& start);
  // The best of the lots that have pods and are not closed; none when no lot fits. `left` must not
  // be more than the last time.
  std::optional<LotId> best(const Amounts& left);
  // Notes that a pod of the lot has joined the claim.
  void take(LotId lot) {
    --available_[lot];
    touched_.push_back(lot);
    note(ScanTrail::Outcome::Taken);
  }
  // Leaves the lot out until the next claim.
  void close(LotId lot) {
    shut(lot);
    note(ScanTrail::Outcome::Closed);
  }
  // Closes those of the lots for which the condition holds.
  template <class Condition>
  void close_if(std::span<const LotId> among, Condition condition) {
    const std::size_t before = touched_.size();
    for (const LotId lot : among) {
      if (available_[lot] > 0 && condition(lot)) {
        shut(lot);
      }
    }
    note_closing(std::span(touched_).subspan(before));
  }
  // What it has done in all passes: lots in question, scored or not, and a little for each call of
  // best().
  std::size_t work() const { return work_; }

 private:
  void shut(LotId lot) {
    available_[lot] = 0;
    touched_.push_back(lot);
  }
  // What became of the lot that was found last.
  void note(ScanTrail::Outcome outcome);
  void note_closing(std::span<const LotId> closed);
  // The next step of the trail, where the scan may go it.
  const ScanTrail::Step* next_of_trail();
  std::optional<LotId> look(const Amounts& left);
  // Of `active_`, from that place on.
  std::size_t count_active(std::uint32_t from);
  bool may_join(LotId lot, const Amounts& left) const;
  LotId lot_at(std::uint32_t place) const { return suitors_->lots[place]; }
  // Makes a line of its own: those of every so many lots that may join now, the one with the best
  // score first.
  void line_up(std::size_t stride, const Amounts& left);
  // Makes the suitors' blocks the line.
  void line_up_all(const Amounts& left);
  std::optional<LotId> best_in_line(const Amounts& left);

  // The best lot of a look at the line.
  struct Best {
    std::uint32_t place = 0;
    double score = -1;  // negative: there is none
    // Whether another lot with this score comes before it.
    bool gives_way_to(double to, std::uint32_t at) const {
      return to > score || (to == score && at < place);
    }
  };
  void look_at_block(std::size_t block, const Amounts& left, Best& best);

  std::vector<std::int64_t> requests_;  // by lot and column
  ById<LotId, double> least_;           // see Lot
  SuitorsPtr suitors_;
  std::vector<std::uint32_t> active_;   // places of those that had pods when the claim was begun
  ById<LotId, std::size_t> available_;  // pods that may join
  std::vector<LotId> touched_;          // lots of which `available_` may say less than there are
  std::vector<std::uint32_t> active_from_;  // by place, see count_active(); empty: not counted
  std::size_t left_before_ = 0;             // of PodLots::departures(): known by now
  std::span<const double> prices_;
  std::size_t first_ = 0;  // active ones before this one are too large

  // The lots that are looked at stand in a line, in blocks: in those of the suitors, or in blocks
  // of its own where there are very many.
  std::vector<std::uint32_t> own_line_;  // their places
  std::vector<double> own_attraction_;
  std::vector<std::pair<double, std::uint32_t>> order_;  // see line_up(): minus score, and place
  const std::uint32_t* line_ = nullptr;                  // either of the two
  const double* attraction_ = nullptr;                   // by block, column and lot
  std::vector<double> handicap_;  // by lot: minus infinity for those that may not join
  std::vector<double> most_;      // by block: no lot of it scores more
  std::vector<double> room_;      // by column: what is left
  std::size_t line_begin_ = 0;    // the line is every so many lots from this active one on
  std::size_t line_stride_ = 0;   // 0: there is no line yet
  bool all_in_line_ = false;      // the line is all that may join
  std::size_t work_ = 0;

  ScanTrails trails_;
  ScanTrail* trail_ = nullptr;  // of the claim; null: it goes a way of its own
  std::size_t step_ = 0;        // so many have been gone
  std::size_t closings_ = 0;
  bool is_outcome_due_ = false;  // of the last step
};

}  // namespace millwright::scheduling
