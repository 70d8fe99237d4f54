// The pods of a watched cluster that the sandbox's controllers do not create by themselves: those
// without an owner, and those whose owner is of a kind that the sandbox does not play. Each comes
// when it is created and goes when it ends or is deleted. Nobody knows beforehand which of them end
// by themselves, as a reader of a recording does (day_pods.hpp). Pure.
#pragma once

#include "app/replay/day/day_objects.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::app {

class LivePods {
 public:
  // A pod that is there at the start: puts it, and what stands in for its owner, into `first`.
  // `owned`: its owner is there, too.
  void begin(boost::json::value pod, bool owned, std::vector<boost::json::value>& first);
  // What is asked because of a pod as it is now, or because it is gone; mostly nothing.
  std::optional<DayStep> seen(const RecordingLine& line);
  std::optional<DayStep> gone(const RecordingLine& line);
  // Another start.
  void clear() { pods_.clear(); }

 private:
  struct Loose {
    const model::Resource* resource = nullptr;  // of the pod, or of what stands in for its owner
    boost::json::value names;                   // as Remove needs them
    bool left = false;
  };

  std::optional<DayStep> leave(Loose& loose, base::TimePoint at);

  std::map<std::string, Loose> pods_;  // those that are there, by uid
};

}  // namespace millwright::app
