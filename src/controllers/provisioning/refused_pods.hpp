// Pods that the extender refused everywhere, and which of them to wake when. kube-scheduler does
// not try such a pod again by itself.
//
// When room comes free, as many pods are woken as it holds, those of highest priority first. One
// that is not bound gives its turn to the next, until every pod that the room would hold has had
// one: a thousand pods do not ask for one free place together, and none that could go sleeps on.
// And each is woken now and then whatever happens.
#pragma once

#include "millwright/cluster/ledger.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

class RefusedPods {
 public:
  struct Pod {
    model::ObjectKey key;
    scheduling::GroupId group;
    model::ResourceList requests;
    std::int32_t priority = 0;
  };
  // The record of a node, or of a claim without one; nullptr when there is none.
  using FindTarget = std::function<scheduling::NodeRecordPtr(const std::string& target)>;

  // A pod that was woken, and is not bound after so long, has had its turn.
  static constexpr base::Duration kTurn = std::chrono::seconds(2);
  static constexpr base::Duration kPause = std::chrono::seconds(1);
  // A pod sleeps no longer than this, or a little longer if many do: so many wake in a second.
  static constexpr base::Duration kLongestSleep = std::chrono::minutes(1);
  static constexpr std::size_t kSleepersPerSecond = 10;
  // What another leader may have refused sleeps this long: until kube-scheduler has found us. So
  // does a pod that could not be woken.
  static constexpr base::Duration kShortSleep = std::chrono::seconds(5);
  // Places that are filled in one call of due(); the next call goes on.
  static constexpr std::size_t kOpeningsAtOnce = 64;

  // True when others may have their turn now.
  bool add(const std::string& uid, Pod pod, base::TimePoint now);
  // The pod may be one: it is woken once, and forgotten unless it is refused then.
  void assume(const std::string& uid, Pod pod, base::TimePoint now);
  // The pod that due() has named could not be woken: it has not had its turn.
  void not_woken(const model::ObjectKey& pod, base::TimePoint now);
  bool contains(std::string_view uid) const { return pods_.contains(uid); }
  // The next due() wakes the pod, if it is one of these.
  void wake(std::string_view uid);
  // There is a place for the pod, if it is one of these: it is woken now, and if it is refused
  // again after a pause.
  void has_place(std::string_view uid);
  // Forgets those that are bound or gone.
  void keep_pending(const scheduling::Snapshot& snapshot);

  // Those to wake now; they count as woken.
  std::vector<model::ObjectKey> due(const scheduling::Snapshot& snapshot,
                                    const cluster::LedgerView& ledger,
                                    const FindTarget& find_target, base::TimePoint now);

 private:
  struct Sleeper {
    Pod pod;
    std::uint64_t number = 0;    // in the order of refusals
    std::uint64_t had_turn = 0;  // the newest opening when it was woken last
    base::TimePoint tried;       // was woken or refused
    bool awake = false;
    bool assumed = false;
    std::string woken_for;  // the node's name or the group's text
    bool has_place = false;
    base::TimePoint woken_for_place;
  };
  struct Sight {
    const scheduling::Snapshot& snapshot;
    const cluster::LedgerView& ledger;
    const FindTarget& find_target;
  };
  using Openings = std::map<std::string, std::uint64_t, std::less<>>;
  // Whether the place has room left for the pod; it is taken then.
  using Take = std::function<bool(const Pod&)>;

  static std::optional<model::ResourceList> room_of(const std::string& node, const Sight& sight);
  static std::int32_t beyond_reserved(const scheduling::GroupId& group, const Sight& sight);
  static Take while_fits(std::optional<model::ResourceList> room);
  static Take while_left(const std::string& group, std::int32_t pieces);
  void end_turns(base::TimePoint now);
  void note_rooms(const Sight& sight);
  void note_groups(const Sight& sight);
  void fill(Openings& openings, const std::function<Take(const std::string&)>& room_for,
            base::TimePoint now);
  void wake(Sleeper& sleeper, std::string woken_for, base::TimePoint now);
  void wake_long_asleep(base::TimePoint now);

  std::map<std::string, Sleeper, std::less<>> pods_;  // by uid
  std::set<std::string, std::less<>> named_;          // uids
  std::vector<model::ObjectKey> woken_;               // by the call of due() that is running
  std::uint64_t refusals_ = 0;
  std::uint64_t openings_ = 0;
  base::TimePoint last_sweep_;
  // As seen last: what nodes with reservations have beside them, and how many pods of each group
  // are not bound to what is reserved for them.
  std::map<std::string, model::ResourceList, std::less<>> rooms_;
  std::map<std::string, std::int32_t, std::less<>> beyond_;
  // Where room came free and some have not had their turn, each with the number of its opening.
  Openings open_nodes_;
  Openings open_groups_;
};

}  // namespace millwright::controllers
