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
#include "millwright/scheduling/snapshot.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::extender {

struct Policy {
  // How long room is held after the node can run its pods, that is Ready and, when it has a
  // NodeClaim, initialised. A hold's own deadline may end it earlier.
  base::Duration hold_after_ready = std::chrono::seconds(30);
  // A pod of higher priority may take room held for lower ones.
  bool priority_overrides_holds = true;
  // A pod with a live hold is refused on all other nodes until the hold ends. Otherwise the node
  // bought for it might stay empty, and it would take room that was planned for others. When false,
  // its own node is only preferred.
  bool pods_keep_to_their_hold = true;
};

struct Reply {
  int status = 200;
  std::string body;
};

// Why a node is refused. kube-scheduler's event counts nodes by reason, so reasons are few, short
// and stable.
inline constexpr std::string_view kBeingRemoved = "millwright: node is being removed";
inline constexpr std::string_view kHeldForOthers = "millwright: room held for other pods";
inline constexpr std::string_view kHeldElsewhere = "millwright: room is held on another node";

struct PodFacts {
  std::string uid;
  model::ObjectKey key;
  std::int32_t priority = 0;
  model::ResourceList requests;  // effective, "pods" included
  bool is_daemon = false;
  std::string owner_uid;  // of its controller; empty when it has none
};

// `filter` and `preempt` follow one policy:
// - A node that is fenced or marked for deletion takes no pods but DaemonSets'.
// - A pod never takes room that is held for others. What is free on a node is what remains after
//   its pods, the DaemonSet pods that are still to come, live holds and attempts in flight; the
//   request must fit into that. A hold is live until its deadline, until its pod is on the node,
//   and no longer than Policy::hold_after_ready once the node can run pods.
// - A pod with a live hold goes to the node of its hold. Only that node's removal refuses it there.
// - A node that is not in the snapshot is refused only when it is fenced.
class Extender {
 public:
  struct Sources {
    std::function<scheduling::SnapshotPtr()> snapshot;  // thread-safe
    cluster::Ledger* ledger = nullptr;
    std::function<base::TimePoint()> now;  // thread-safe
    // Called on an I/O thread for each pod that `filter` refused on at least one node. Provisioning
    // plans for such pods without waiting for kube-scheduler to report them.
    std::function<void(const PodFacts& pod, bool refused_everywhere)> on_refused;
    base::Metrics* metrics = nullptr;
  };
  Extender(Sources sources, Policy policy);
  ~Extender();

  // A malformed request gets 400 and the reason. Before the cluster state is synced every node
  // passes. Nodes are answered in the form in which they came; full ones are repeated byte for
  // byte.
  Reply filter(std::string_view body) const;
  // 10 for the node that holds room for the pod. Other nodes score by how full the pod would make
  // them, and less when they are being removed or may soon be. Nodes that score 0 are left out.
  Reply prioritize(std::string_view body) const;
  // Leaves out the nodes that filter would refuse once the victims are gone.
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
std::string binding_result(std::string_view error);  // empty error: success

}  // namespace millwright::extender
