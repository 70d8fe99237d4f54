// The kube-scheduler extender's verbs (k8s.io/kube-scheduler/extender/v1) as functions of request
// text, ledger and snapshot. No I/O; any thread. docs/architecture.md says what is refused and why.
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

// How long room stays held after the node became Ready.
struct Policy {
  base::Duration hold_after_ready = std::chrono::seconds(30);
  // A pod of higher priority may take room held for lower ones.
  bool priority_overrides_holds = true;
};

struct Reply {
  int status = 200;
  std::string body;
};

// The one policy that filter and preempt share: nullopt when the pod may go to the node, else a
// short stable reason ("millwright: node is being removed", "millwright: room held for other
// pods").
struct PodFacts {
  std::string uid;
  model::ObjectKey key;
  std::int32_t priority = 0;
  model::ResourceList requests;
  bool is_daemon = false;
};
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

  // Malformed requests get 400 and a reason. Stale or unsynced state: every node passes.
  Reply filter(std::string_view body) const;
  Reply prioritize(std::string_view body) const;
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
