// The ledger's holds and fences, and for each whether this process decided it or which mirror it
// was read from; also those that ended, so that no old mirror revives them. Guarded by the ledger's
// mutex.
#pragma once

#include "millwright/cluster/ledger.hpp"

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millwright::cluster {

// Holds or fences that ended, each with a time: a mirror that is not newer than that is out of
// date and must not bring it back. Remembers the newest Ledger::kEndedRemembered.
template <class Key>
class Ended {
 public:
  void note(const Key& key, base::TimePoint up_to) {
    up_to_.insert_or_assign(key, up_to);
    order_.push_back(key);
    if (order_.size() > Ledger::kEndedRemembered) {
      up_to_.erase(order_.front());
      order_.pop_front();
    }
  }
  void forget(const Key& key) { up_to_.erase(key); }
  bool covers(const Key& key, base::TimePoint stamp) const {
    const auto found = up_to_.find(key);
    return found != up_to_.end() && stamp <= found->second;
  }

 private:
  std::map<Key, base::TimePoint> up_to_;
  std::deque<Key> order_;
};

struct Ledger::Promises {
  LedgerView view;

  // A copy (cheap: it is shared), so that a caller may change the list while walking it.
  HoldList holds_of(std::string_view target) const;
  void put(scheduling::Hold hold);
  void set_deadline(std::string_view target, base::TimePoint deadline);

  void decide_hold(scheduling::Hold hold);
  // Mirrors with a deadline of at most `up_to` will not bring it back.
  void end_hold(const scheduling::HoldId& id, base::TimePoint up_to);
  void adopt_holds(std::string_view source, std::string_view target,
                   std::vector<scheduling::Hold> holds);

  void decide_fence(Fence fence);
  void end_fence(std::string_view node);
  void adopt_fence(std::string_view source, std::string_view node, std::optional<Fence> fence);

 private:
  bool drop(const scheduling::HoldId& id);
  void set_list(std::string_view target, std::vector<scheduling::Hold> holds);

  // Holds known only from a mirror, with the mirror's object; and what each object said, sorted.
  std::map<scheduling::HoldId, std::string> hold_source_;
  std::map<std::string, std::vector<scheduling::HoldId>, std::less<>> said_by_;
  std::map<std::string, std::string, std::less<>> fence_source_;
  Ended<scheduling::HoldId> ended_holds_;
  Ended<std::string> ended_fences_;
};

}  // namespace millwright::cluster
