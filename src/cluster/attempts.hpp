// Scheduling attempts that were let through and may still end in a binding. Guarded by the
// ledger's mutex for attempts; bounded in memory (Ledger::kDetailedPasses).
#pragma once

#include "millwright/cluster/ledger.hpp"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::cluster {

struct Ledger::Attempts {
 public:
  void begin(std::string_view pod_uid, base::TimePoint now);
  void put(Pass pass);
  void end(std::string_view pod_uid);
  PassPtr of(std::string_view pod_uid) const;
  std::vector<PassPtr> alive(base::TimePoint now) const;

 private:
  void forget_old(base::TimePoint now);

  std::map<std::string, PassPtr, std::less<>> by_pod_;
  std::deque<std::pair<base::TimePoint, std::string>> order_;  // oldest first
};

}  // namespace millwright::cluster
