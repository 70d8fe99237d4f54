// When drafts are due: planned claims that could take more pods, and wait for these.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/scheduling/demand.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace millwright::controllers {

class DraftTimer {
 public:
  using Drafts = std::map<scheduling::GroupId, std::int32_t>;  // their pods

  explicit DraftTimer(base::Duration max) : max_(max) {}

  // What the newest plan has, and for how long it must stand still.
  void update(const Drafts& drafts, base::Duration idle, base::TimePoint now) {
    if (drafts.empty()) {
      since_.reset();
    } else if (!since_) {
      since_ = now;
      grown_ = now;
    } else if (has_grown(drafts)) {
      grown_ = now;
    }
    idle_ = idle;
    drafts_ = drafts;
  }
  // nullopt when there are none.
  std::optional<base::TimePoint> due() const {
    return since_ ? std::optional(std::min(grown_ + idle_, *since_ + max_)) : std::nullopt;
  }

 private:
  bool has_grown(const Drafts& drafts) const {
    return std::any_of(drafts.begin(), drafts.end(), [this](const auto& entry) {
      const auto before = drafts_.find(entry.first);
      return before == drafts_.end() || before->second < entry.second;
    });
  }

  base::Duration max_;
  base::Duration idle_{};
  Drafts drafts_;
  std::optional<base::TimePoint> since_;  // there have been some all the time
  base::TimePoint grown_;
};

}  // namespace millwright::controllers
