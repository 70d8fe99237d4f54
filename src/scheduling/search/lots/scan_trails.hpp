// What a scan has chosen for a claim, step by step. The next claim that begins with the same pod on
// the same machine goes the same way, as long as the lots have the pods for it: where what suited
// best is still there, nothing that is left suits better.
#pragma once

#include "scheduling/values/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace millwright::scheduling {

class ScanTrail {
 public:
  enum class Outcome : std::uint8_t { Open, Taken, Closed };  // Open: not known
  struct Step {
    LotId lot;                // that was found; LotId::none() when none fitted
    std::uint32_t place = 0;  // of the first lot that was not too large, see LotScan
    Outcome outcome = Outcome::Open;
  };

  void clear() { cut(0, 0); }
  // Forgets what comes after so many steps and closings.
  void cut(std::size_t steps, std::size_t closings) {
    steps_.resize(steps);
    closing_ends_.resize(closings);
    closed_.resize(closings == 0 ? 0 : closing_ends_.back());
  }

  std::size_t size() const { return steps_.size(); }
  Step& operator[](std::size_t step) { return steps_[step]; }
  void add(const Step& step) { steps_.push_back(step); }

  // Closings are looks at all lots that leave some out, see LotScan::close_if().
  std::size_t closings() const { return closing_ends_.size(); }
  std::span<const LotId> closed(std::size_t closing) const {
    const std::size_t begin = closing == 0 ? 0 : closing_ends_[closing - 1];
    return std::span(closed_).subspan(begin, closing_ends_[closing] - begin);
  }
  void add_closing(std::span<const LotId> lots) {
    closed_.insert(closed_.end(), lots.begin(), lots.end());
    closing_ends_.push_back(closed_.size());
  }

 private:
  std::vector<Step> steps_;
  std::vector<LotId> closed_;  // by closing
  std::vector<std::size_t> closing_ends_;
};

// How a claim begins: with a pod of which lot, on which machine, and whether pods really join it.
struct ClaimStart {
  LotId lot;
  std::size_t row = 0;
  bool in_mind = false;
  friend bool operator==(const ClaimStart&, const ClaimStart&) = default;
};

// Trails of claims that begin with pods of one lot, the last that was asked for: claims are begun
// lot by lot.
class ScanTrails {
 public:
  void clear() { known_.clear(); }
  // An empty one if there is none. Stays where it is until another lot is asked for.
  ScanTrail& of(const ClaimStart& start) {
    if (!known_.empty() && known_.front().lot != start.lot) {
      known_.clear();
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i] == start) {
        return trails_[i];
      }
    }
    known_.push_back(start);
    if (trails_.size() < known_.size()) {
      trails_.emplace_back();
    }
    ScanTrail& trail = trails_[known_.size() - 1];
    trail.clear();
    return trail;
  }

 private:
  std::vector<ClaimStart> known_;
  std::deque<ScanTrail> trails_;  // those beyond `known_` are kept for their memory
};

}  // namespace millwright::scheduling
