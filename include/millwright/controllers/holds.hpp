// Keeps the promises in the ledger honest: holds end at their deadline, pods that were refused for
// a hold's sake are woken when it ends, and the successor of an evicted pod inherits its room.
#pragma once

#include "millwright/controllers/services.hpp"

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

// The ledger's name for the room of a pod: its uid, or, for a pod that still runs on a node being
// removed, a name that its successor will claim (an evicted pod comes back with another uid).
std::string hold_id(const model::Pod& pod);

// Holds for `pods` on `target`, until `deadline`. A running pod without a controller gets none,
// since nobody will create its successor.
std::vector<scheduling::Hold> make_holds(const std::vector<scheduling::PodPtr>& pods,
                                         const std::string& target, base::TimePoint deadline);

class Holds {
 public:
  explicit Holds(Services& services);
  // Pods or promises changed.
  void notify() { signal_.notify(); }
  // The extender refused this pod somewhere, so it sleeps until something wakes it.
  void refused(std::string pod_uid, model::ObjectKey pod);
  // A plan has a place for this pod on a node that is up, so that nothing is bought for it. If the
  // extender refused it since it was last woken (because of pods that were on their way then), no
  // event will make kube-scheduler look again.
  void has_room(std::string_view pod_uid);
  // Called when holds ended without their pods, which are then nobody's business but the planner's.
  void on_expired(std::function<void()> callback) { on_expired_ = std::move(callback); }
  // Gives the room kept for evicted pods to pending pods of the same controller. Done before each
  // plan, which would otherwise buy room that is there already.
  void inherit();
  base::Task<void> run(std::stop_token stop);

 private:
  bool room_came_free(const scheduling::Snapshot& snapshot);
  base::Task<void> wake(std::vector<model::ObjectKey> pods);

  struct Refused {
    model::ObjectKey pod;
    bool woken_for_room = false;  // since
  };

  Services& services_;
  base::Signal signal_;
  std::function<void()> on_expired_;
  std::map<std::string, Refused, std::less<>> refused_;   // by pod uid
  std::map<std::string, std::string, std::less<>> held_;  // pod uid to target, at the last look
  std::vector<std::string> housed_;  // uids of pods that have room now and may have to be woken
};

}  // namespace millwright::controllers
