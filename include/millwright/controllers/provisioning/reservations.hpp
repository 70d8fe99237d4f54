// Keeps the reservations of the ledger up to date. They end with their time, with their target, and
// when their target turns out to lack the room. Pods that the extender refused because of a
// reservation are woken by whatever may change its answer.
#pragma once

#include "millwright/controllers/services.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::controllers {

// Room for the pods on `target`, until `until`: one reservation for each of their groups. A running
// pod without a controller needs none, since nobody will create its successor.
std::vector<scheduling::Reservation> reservations_for(const std::vector<scheduling::PodPtr>& pods,
                                                      const std::string& target,
                                                      base::TimePoint until);

class Reservations {
 public:
  explicit Reservations(Services& services);
  // Pods, nodes or reservations changed.
  void notify() { signal_.notify(); }
  // The extender refused this pod on some node. kube-scheduler does not try it again by itself.
  // `not_offered`: the nodes that are up and keep room for the pod, if it was refused on all that
  // kube-scheduler asked about and none of these was among them. It is asked once more; then
  // kube-scheduler will not have the pod there, and what is reserved there for its group is void.
  void refused(std::string pod_uid, model::ObjectKey pod, scheduling::GroupId group,
               std::vector<std::string> not_offered);
  // A plan has a place for this pod on an initialised node, so nothing is bought for it. If the
  // extender refused it before, it is woken once: no event would make kube-scheduler look again.
  void has_room(std::string_view pod_uid);
  // `callback` is called when reservations end that were not used: their pods have to be planned
  // again.
  void on_void(std::function<void()> callback) { on_void_ = std::move(callback); }
  base::Task<void> run(std::stop_token stop);

 private:
  struct Refused {
    model::ObjectKey pod;
    bool woken_for_room = false;  // since it was refused
    bool asked_again = false;     // since its node was not offered
  };
  struct Kept {
    std::int32_t count = 0;  // reserved on the target
    std::size_t bound = 0;   // pods on it
  };

  void forget_settled(const scheduling::Snapshot& snapshot);
  void void_what_lacks_room(const scheduling::Snapshot& snapshot);
  void void_what_cannot_attach(const scheduling::Snapshot& snapshot);
  void end_expired(const scheduling::Snapshot& snapshot);
  void tell_void(std::int32_t pods, const char* why);
  bool room_came_free(const scheduling::Snapshot& snapshot);
  base::Task<void> wake(std::vector<model::ObjectKey> pods);

  Services& services_;
  base::Signal signal_;
  std::function<void()> on_void_;
  std::map<std::string, Refused, std::less<>> refused_;  // by pod uid
  std::vector<std::string> to_wake_;                     // uids; those that were refused are woken
  std::deque<std::pair<base::TimePoint, std::string>> ask_again_;  // when, and the pod's uid
  std::map<std::string, Kept, std::less<>> kept_;                  // by target, at the last look
  // Since when reservations have outlived their end, by target and group.
  std::map<std::pair<std::string, scheduling::GroupId>, base::TimePoint> overdue_;
  std::uint64_t placed_elsewhere_ = 0;  // as counted by State, at the last look
};

}  // namespace millwright::controllers
