// The ledger's holds and fences with what is needed to reconcile them with their mirrors on
// objects: who said it (this process, or a mirror) and what ended. Guarded by the ledger's mutex.
#pragma once

#include "millwright/cluster/ledger.hpp"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::cluster {

// What ended, and up to which time stamp a mirror of it is a thing of the past. Remembers the
// newest Ledger::kEndedRemembered.
class Ended {
 public:
  void note(std::string_view key, base::TimePoint up_to);
  void forget(std::string_view key);
  bool covers(std::string_view key, base::TimePoint stamp) const;

 private:
  std::map<std::string, base::TimePoint, std::less<>> up_to_;
  std::deque<std::string> order_;
};

struct Ledger::Promises {
  LedgerView view;

  // A copy (cheap: it is shared), so that a caller may change the list while walking it.
  HoldList holds_of(std::string_view target) const;
  void put(scheduling::Hold hold);
  void set_deadline(std::string_view target, base::TimePoint deadline);

  void decide_hold(scheduling::Hold hold);
  // Mirrors with a deadline of at most `up_to` will not bring it back.
  void end_hold(std::string_view pod_uid, base::TimePoint up_to);
  void adopt_holds(std::string_view source, std::string_view target,
                   std::vector<scheduling::Hold> holds);

  void decide_fence(Fence fence);
  void end_fence(std::string_view node);
  void adopt_fence(std::string_view source, std::string_view node, std::optional<Fence> fence);

 private:
  bool drop(std::string_view pod_uid);
  void set_list(std::string_view target, std::vector<scheduling::Hold> holds);

  // Holds known only from a mirror: pod uid to the mirror's object; and what each object said.
  std::map<std::string, std::string, std::less<>> hold_source_;
  std::map<std::string, std::vector<std::string>, std::less<>> said_by_;
  std::map<std::string, std::string, std::less<>> fence_source_;
  Ended ended_holds_;
  Ended ended_fences_;
};

}  // namespace millwright::cluster
