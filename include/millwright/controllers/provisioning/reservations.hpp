// Keeps the reservations of the ledger up to date. They end with their time, with their target, and
// when their target turns out to lack the room or to take no pods. Pods that the extender refused
// because of a reservation are woken by whatever may change its answer.
#pragma once

#include "millwright/controllers/services.hpp"
#include "millwright/extender/extender.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::controllers {

class MisplacedRoom;
class RefusedPods;

// Room for the pods on `target`, until `until`: one reservation for each of their groups. A running
// pod without a controller needs none, since nobody will create its successor.
std::vector<scheduling::Reservation> reservations_for(const std::vector<scheduling::PodPtr>& pods,
                                                      const std::string& target,
                                                      base::TimePoint until);

class Reservations {
 public:
  explicit Reservations(Services& services);
  ~Reservations();
  // Pods, nodes or reservations changed.
  void notify() { signal_.notify(); }
  // The extender refused this pod everywhere. kube-scheduler does not try it again by itself. If it
  // did not offer the nodes that are up and keep room for the pod, it is asked once more; then it
  // will not have the pod there, and what is reserved there for its group is void. Not so while the
  // pod may wait for others of its spread whose nodes are not up.
  void refused(extender::RefusedPod refused);
  // A plan has a place for this pod on an initialised node, so nothing is bought for it. If the
  // extender refused it before, it is woken: no event would make kube-scheduler look again.
  void has_room(std::string_view pod_uid);
  // `callback` is called when reservations end that were not used: their pods have to be planned
  // again.
  void on_void(std::function<void()> callback) { on_void_ = std::move(callback); }
  base::Task<void> run(std::stop_token stop);

 private:
  using Times = std::map<std::string, base::TimePoint, std::less<>>;  // by node

  void assume_refused(const scheduling::Snapshot& snapshot);
  void not_offered(const extender::RefusedPod& refused);
  // What no pod of the group is on its way to there; returns for how many pods that was.
  std::int32_t lower_unused(const scheduling::GroupId& group,
                            const std::vector<std::string>& targets, const char* why);
  void void_what_is_misplaced(const scheduling::SnapshotPtr& snapshot);
  void end_what_is_gone(const scheduling::Snapshot& snapshot);
  void void_what_lacks_room(const scheduling::Snapshot& snapshot);
  void void_what_cannot_attach(const scheduling::Snapshot& snapshot);
  bool is_closed(const scheduling::NodeRecord& record, const Times& unready_before);
  std::int32_t void_all(const cluster::ReservationList& list);
  std::int32_t void_beyond_room(const scheduling::NodeRecord& record,
                                const cluster::ReservationList& list);
  void end_expired(const scheduling::Snapshot& snapshot);
  void tell_void(std::int32_t pods, const char* why);
  void count_placed_elsewhere();
  base::Task<void> wake_refused();
  base::Task<void> wake(model::ObjectKey pod, std::string stamp);

  Services& services_;
  base::Signal signal_;
  std::function<void()> on_void_;
  std::unique_ptr<RefusedPods> refused_;
  std::unique_ptr<MisplacedRoom> misplaced_;
  base::TimePoint next_look_for_misplaced_{};
  // Uids of pods that kube-scheduler offered none of their nodes, and when they are to be asked
  // once more.
  std::set<std::string, std::less<>> asked_again_;
  std::deque<std::pair<base::TimePoint, std::string>> ask_again_;
  Times unready_since_;  // nodes that keep room and are not Ready
  // Since when reservations have outlived their end, by target and group.
  std::map<std::pair<std::string, scheduling::GroupId>, base::TimePoint> overdue_;
  std::uint64_t placed_elsewhere_ = 0;  // as counted by State, at the last look
};

}  // namespace millwright::controllers
