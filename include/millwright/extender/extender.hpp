// The verbs of a kube-scheduler extender (k8s.io/kube-scheduler/extender/v1): functions of the
// request's text, the ledger and the snapshot. They do no I/O and may run on any thread.
// docs/architecture.md says what is refused and why.
//
// `filter` and `preempt` follow one policy. If they did not, a pod that filter refuses could evict
// others through preempt and still not run. Refusals go into FailedAndUnresolvableNodes: for
// FailedNodes the default preemption would look for victims, and Error would put the pod into error
// backoff, where no event wakes it.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/cluster/ledger.hpp"
#include "millwright/cluster/state.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::extender {

struct Policy {
  // A pod of higher priority may take room reserved for lower ones.
  bool priority_overrides_reservations = true;
  // Pods of a group whose whole need is reserved are refused on all other nodes. Otherwise the node
  // bought for them might stay empty, and they would take room that was planned for others. When
  // false, their own nodes are only preferred.
  bool pods_keep_to_their_room = true;
};

struct Reply {
  int status = 200;
  std::string body;
};

// Why a node is refused. kube-scheduler's event counts nodes by reason, so reasons are few, short
// and stable.
inline constexpr std::string_view kBeingRemoved = "millwright: node is being removed";
inline constexpr std::string_view kReservedForOthers =
    "millwright: room is reserved for other pods";
inline constexpr std::string_view kReservedElsewhere =
    "millwright: room is reserved on another node";

// What the cluster state shows of a pod that somebody asks about. It decides what is noted of the
// call; the answer follows the policy in any case.
enum class Shown : std::uint8_t {
  Waiting,  // this very pod, for a place: its facts are the state's, and the call is an attempt
  // Nothing of the kind. kube-scheduler may have heard of the pod before us, and a removal must
  // know of its attempt, so that is noted; but what the caller says of the pod buys and frees
  // nothing.
  NotYet,
  // The version that was asked about, or a later one, which no scheduler tries (it is gated). The
  // call is no attempt.
  Otherwise,
};

struct PodFacts {
  std::string uid;
  model::ObjectKey key;
  std::int32_t priority = 0;
  model::ResourceList requests;  // effective, "pods" included
  bool is_daemon = false;
  scheduling::GroupId group;
  bool awaits_volumes = false;  // its binding may wait for a volume claim that is not bound yet
  std::optional<base::TimePoint> created;
  bool is_nominated = false;  // a node is being emptied for it
  // model::kProvisionInsteadOfPreemptAnnotation of the pod, else of its PriorityClass, and the
  // object that has it; empty: neither has it.
  struct Annotation {
    std::string value;
    std::string object;
  };
  Annotation provision_first;
  std::string version;  // resourceVersion, as kube-scheduler knows the pod
  Shown shown = Shown::NotYet;
};

// The pod, if the snapshot shows it waiting for a place: not bound, not over, not gated. nullptr:
// it shows something else, or another pod of that name.
const model::Pod* find_waiting(const scheduling::Snapshot& snapshot, const model::ObjectKey& key,
                               std::string_view uid);

// A pod that `filter` refused on every node that it was asked about.
struct RefusedPod {
  PodFacts pod;
  // Nodes that are up and keep room for the pod, and that kube-scheduler did not ask about.
  std::vector<std::string> not_offered;
};

// `filter` and `preempt` follow one policy:
// - A node that is fenced or marked for deletion takes no pods but DaemonSets'.
// - A pod never takes room that is reserved for other groups. What is free on a node is what
// remains
//   after its pods, the DaemonSet pods that are still to come, live reservations and attempts in
//   flight; the request must fit into that.
// - A group whose whole need is reserved goes to its nodes; while more is needed than is reserved,
//   so many of its pods may go elsewhere. Only a node's removal refuses a group that has room
//   there. Such a pod is let through to one of these nodes at a time, so that it is known where it
//   lands.
// - A node that is not in the snapshot is refused only when it is fenced, or when the pod has a
// node
//   to go to.
//
// What a caller says is believed for its own answer only. Before it changes the ledger or asks for
// a purchase it is compared with the cluster state: see Shown. A call that names no node of the
// state is no attempt either: kube-scheduler asks about nodes that it may choose, and it cannot
// choose one of ours before its registration, which the state shows.
//
// `preempt` also spares victims for a while, for pods that ask for that by annotation, as long as
// their demand can be bought. Nothing is evicted for them then; afterwards it is as always.
class Extender {
 public:
  struct Sources {
    std::function<cluster::State::Sight()> sight;  // thread-safe
    cluster::Ledger* ledger = nullptr;             // for attempts in flight
    std::function<base::TimePoint()> now;          // thread-safe
    // Called on an I/O thread. Provisioning plans for such pods without waiting for kube-scheduler
    // to report them. The receiver must compare a pod that is not Shown::Waiting with a newer
    // snapshot before it believes anything.
    std::function<void(RefusedPod refused)> on_refused;
    // Whether nothing is known that forbids buying room for the pod. Thread-safe. Without it no
    // victims are spared.
    std::function<bool(const PodFacts& pod)> can_be_bought;
    // Called on an I/O thread for each answer that spares victims: room has to be bought now.
    std::function<void(const PodFacts& pod)> on_spared;
    // Called on an I/O thread with one sentence for people, once for each annotation that cannot be
    // read; it is ignored.
    std::function<void(const std::string& problem)> on_problem;
    base::Metrics* metrics = nullptr;
  };
  Extender(Sources sources, Policy policy);
  ~Extender();

  // A malformed request gets 400 and the reason. Before the cluster state is synced every node
  // passes. Nodes are answered in the form in which they came; full ones are repeated byte for
  // byte.
  Reply filter(std::string_view body) const;
  // 10 for a node that keeps room for the pod. Other nodes score by how full the pod would make
  // them, and less when they are being removed or may soon be. Nodes that score 0 are left out.
  Reply prioritize(std::string_view body) const;
  // Leaves out the nodes that filter would refuse once the victims are gone; all of them while
  // victims are spared.
  Reply preempt(std::string_view body) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The `bind` request, for the route that performs it.
struct Binding {
  model::ObjectKey pod;
  std::string pod_uid;
  std::string node;
};
base::Result<Binding> parse_binding(std::string_view body);
// Denied says why not: the state does not show the pod waiting, or filter did not let it through to
// that node, or too long ago.
base::Result<> check_binding(const Binding& binding, const scheduling::Snapshot& snapshot,
                             const cluster::Ledger& ledger, base::TimePoint now);
std::string binding_result(std::string_view error);  // empty error: success

}  // namespace millwright::extender
