// The kube-scheduler extender's verbs (k8s.io/kube-scheduler/extender/v1) as functions of request
// text, ledger and snapshot. No I/O; any thread. docs/architecture.md says what is refused and why.
//
// `filter` and `preempt` share one policy, refusal(): without it a pod that filter holds back would
// evict others through preempt and still not run. Refusals go into FailedAndUnresolvableNodes:
// FailedNodes would make the default preemption look for victims there, and Error would put the pod
// into error backoff, where no event wakes it.
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
  // How long room stays held for its pods once the node can run them: Ready, and initialised when
  // it is one of ours. A hold's own deadline may end it earlier.
  base::Duration hold_after_ready = std::chrono::seconds(30);
  // A pod of higher priority may take room held for lower ones.
  bool priority_overrides_holds = true;
  // A pod with a live hold is refused everywhere else until the hold ends, so that the node bought
  // for it does not die unused and the room it was not planned onto stays free for others. Off, it
  // may go wherever it fits and its own node is only preferred.
  bool pods_keep_to_their_hold = true;
};

struct Reply {
  int status = 200;
  std::string body;
};

// The reasons a refusal may have. kube-scheduler aggregates nodes by identical reason in the pod's
// event, so they are few, short and stable.
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

// The one policy that filter and preempt share: nullopt when the pod may go to the node, else one
// of the reasons above.
// - A node that is fenced or marked for deletion takes no pods but DaemonSets'.
// - Room held for others is not given away: what is free after the node's pods, the DaemonSet pods
//   that are still to come, live holds and attempts in flight must hold the request. A hold is
//   live until its deadline, until its pod is on the node, and for Policy::hold_after_ready once
//   the node can run pods.
// - A pod with a live hold goes to its target, where nothing but removal refuses it.
// - A node that is not in the snapshot is refused only when it is fenced.
// This form knows the one node only: it takes a pod's hold elsewhere as live until its deadline,
// and counts neither DaemonSet pods to come nor attempts in flight.
std::optional<std::string_view> refusal(const PodFacts& pod, const scheduling::NodeRecord* node,
                                        std::string_view node_name,
                                        const cluster::LedgerView& ledger, const Policy& policy,
                                        base::TimePoint now);

class Extender {
 public:
  struct Sources {
    std::function<scheduling::SnapshotPtr()> snapshot;  // thread-safe
    cluster::Ledger* ledger = nullptr;
    std::function<base::TimePoint()> now;  // thread-safe
    // Told on an I/O thread about each pod that `filter` refused on at least one node: the second
    // provisioning signal.
    std::function<void(const PodFacts& pod, bool refused_everywhere)> on_refused;
    base::Metrics* metrics = nullptr;
  };
  Extender(Sources sources, Policy policy);
  ~Extender();

  // Malformed requests get 400 and a reason. State that is not synced: every node passes.
  // Nodes are answered in the form they were sent in; full ones are echoed byte for byte.
  Reply filter(std::string_view body) const;
  // 10 for the node that keeps room for the pod; for others how full the pod would make them, less
  // for nodes that are, or may soon be, on their way out. Nodes that score 0 are left out.
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
