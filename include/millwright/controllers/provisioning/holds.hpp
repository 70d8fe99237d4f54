// Keeps the holds of the ledger up to date. Holds end at their deadline. Pods that the extender
// refused because of a hold are woken when it ends. The successor of an evicted pod inherits its
// hold.
#pragma once

#include "millwright/controllers/services.hpp"

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

// Which hold a plan makes for the pod: its own, or, for a pod that still runs on a node being
// removed, one that its successor inherits (an evicted pod comes back with another uid).
scheduling::HoldId hold_id(const model::Pod& pod);

// Holds for `pods` on `target`, until `deadline`. A running pod without a controller gets none,
// since nobody will create its successor.
std::vector<scheduling::Hold> make_holds(const std::vector<scheduling::PodPtr>& pods,
                                         const std::string& target, base::TimePoint deadline);

class Holds {
 public:
  explicit Holds(Services& services);
  // Pods or holds changed.
  void notify() { signal_.notify(); }
  // The extender refused this pod on some node. kube-scheduler does not try it again by itself.
  void refused(std::string pod_uid, model::ObjectKey pod);
  // A plan has a place for this pod on an initialised node, so nothing is bought for it. If the
  // extender refused it before, it is woken once: no event would make kube-scheduler look again.
  void has_room(std::string_view pod_uid);
  // `callback` is called when holds end whose pods were not bound: they have to be planned again.
  void on_expired(std::function<void()> callback) { on_expired_ = std::move(callback); }
  // Gives the holds of evicted pods to pending pods of the same controller. Done before each plan,
  // which would otherwise buy room that exists already.
  void inherit();
  base::Task<void> run(std::stop_token stop);

 private:
  bool room_came_free(const scheduling::Snapshot& snapshot);
  base::Task<void> wake(std::vector<model::ObjectKey> pods);

  struct Refused {
    model::ObjectKey pod;
    bool woken_for_room = false;  // since it was refused
  };

  Services& services_;
  base::Signal signal_;
  std::function<void()> on_expired_;
  std::map<std::string, Refused, std::less<>> refused_;   // by pod uid
  std::map<std::string, std::string, std::less<>> held_;  // pod uid to target, at the last look
  std::vector<std::string> with_room_;  // uids of pods that have room now; wake the refused ones
};

}  // namespace millwright::controllers
