// How long the pods of a node must have been at rest before it is consolidated, by NodePool. If the
// pool buys a machine within a minute after a consolidation, that came too soon: what it gave up
// was needed again, and pods moved or waited for nothing. The next one waits twice as long, up to a
// limit. A consolidation after which nothing is bought halves the time again.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <optional>
#include <string>

namespace millwright::controllers {

class SettleTimes {
 public:
  using ByPool = std::map<std::string, base::Duration, std::less<>>;

  // No time is shorter than `least` or longer than `most`.
  SettleTimes(base::Duration least, base::Duration most) : least_(least), most_(most) {}

  // A node of the pool is closed to new pods, or goes. Between the two, while its replacement
  // boots, the pool may already buy again what it gives up.
  void consolidated(const std::string& pool, base::TimePoint now);
  // The claim takes the place of nodes that were given up: it is no purchase.
  void replaced_by(const std::string& claim, base::TimePoint now);
  // Looks for what was bought since.
  void look(const scheduling::Snapshot& snapshot, base::TimePoint now);

  // Pools that are not named have the least time.
  const ByPool& by_pool() const { return times_; }

 private:
  struct Span {
    base::TimePoint first;
    base::TimePoint last;
  };

  std::optional<std::string> bought_again(const scheduling::Snapshot& snapshot) const;
  void change(const std::string& pool, base::Duration time);

  base::Duration least_;
  base::Duration most_;
  ByPool times_;
  std::map<std::string, Span, std::less<>> consolidated_;             // by pool
  std::map<std::string, base::TimePoint, std::less<>> replacements_;  // when made, by claim
};

}  // namespace millwright::controllers
