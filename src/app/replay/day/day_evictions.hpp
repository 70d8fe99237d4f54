// Which pods of a day were evicted, and not deleted by whoever wanted fewer of them. Pure.
#pragma once

#include "millwright/sandbox/recorder.hpp"

#include <map>
#include <optional>
#include <string>

namespace millwright::app {

class DayEvictions {
 public:
  explicit DayEvictions(const sandbox::Recorder& recorder);

  // The API server says so of those that were evicted; what ends on a node that goes was, too.
  bool was_evicted(const sandbox::PodRecord& record) const;

 private:
  void leaves_at(const std::string& node, std::optional<base::TimePoint> time);

  std::map<std::string, base::TimePoint> leaving_;  // by node
};

}  // namespace millwright::app
