// What is written in the ledger: reservations and fences, and for each whether this process decided
// it or a mirror told of it. Guarded by the ledger's mutex.
#pragma once

#include "millwright/cluster/ledger.hpp"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cluster {

// Fences that ended, each with the time it was made: a mirror that is not newer than that is out of
// date and must not bring it back. Remembers the newest Ledger::kEndedRemembered.
class EndedFences {
 public:
  void note(const std::string& node, base::TimePoint since);
  void forget(const std::string& node) { since_.erase(node); }
  bool covers(const std::string& node, base::TimePoint since) const;

 private:
  std::map<std::string, base::TimePoint> since_;
  std::deque<std::string> order_;
};

struct Ledger::Book {
  LedgerView view;

  // A copy (cheap: it is shared), so that a caller may change the list while walking it.
  ReservationList on(std::string_view target) const;
  void add(scheduling::Reservation reservation);
  void set(scheduling::Reservation reservation);
  void lower(const scheduling::GroupId& group, std::string_view target, std::int32_t by);
  void use_one(const scheduling::GroupId& group, std::string_view node);
  void release(std::string_view target);
  void rename(std::string_view from, std::string_view to);
  void set_end(std::string_view target, base::TimePoint end);
  void adopt(std::string_view target, std::vector<scheduling::Reservation> reservations);
  void forget(std::string_view target);

  void decide_fence(Fence fence);
  void end_fence(std::string_view node);
  void adopt_fence(std::string_view claim, std::string_view node, std::optional<Fence> fence);

 private:
  void set_list(std::string_view target, std::vector<scheduling::Reservation> reservations);
  void link(const scheduling::GroupId& group, std::string_view target);
  void unlink(const scheduling::GroupId& group, std::string_view target);

  std::set<std::string, std::less<>> decided_;  // targets that this process has reserved on
  std::map<std::string, std::string, std::less<>> fence_claim_;
  EndedFences ended_fences_;
};

}  // namespace millwright::cluster
