// Claims whose removal a write failed for, and which are left out of decisions for a while. The
// cluster is as it was, so the next decision would be the same one, and as long as it fails it
// keeps every other from being tried.
#pragma once

#include "millwright/disruption/decide.hpp"

#include <map>
#include <string>

namespace millwright::controllers {

class FailedClaims {
 public:
  // For a minute at first, and twice as long each time it fails again, up to ten minutes.
  void add(const std::string& claim, std::string error, base::TimePoint now);
  void forget_old(base::TimePoint now);
  // As in disruption::Input. Pauses that are over are among them.
  const std::map<std::string, disruption::Failed, std::less<>>& all() const { return failed_; }

 private:
  std::map<std::string, disruption::Failed, std::less<>> failed_;
  std::map<std::string, base::Duration, std::less<>> pauses_;  // the last ones
};

}  // namespace millwright::controllers
