// The policy that filter, preempt and prioritize share, for one pod and one instant.
#pragma once

#include "extender/policy/daemon_room.hpp"
#include "millwright/extender/extender.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace millwright::extender {

// What a Judge decides from. Take the ledger's view before the snapshot: then a pod whose hold has
// ended is in the snapshot.
struct Scene {
  const cluster::LedgerView& ledger;
  const Policy& policy;
  base::TimePoint now;
  const scheduling::Snapshot* snapshot = nullptr;  // for DaemonSets; may be missing
  DaemonRoom* daemons = nullptr;
  const cluster::Ledger* attempts = nullptr;
};

class Judge {
 public:
  // `own_target` is the node that holds room for the pod; nullptr when the caller knows none.
  Judge(const PodFacts& pod, const Scene& scene, const scheduling::NodeRecord* own_target);

  // Why the node is refused; nullopt when it is not. `freed` is what preemption would free there.
  std::optional<std::string_view> refusal(const scheduling::NodeRecord* node,
                                          std::string_view node_name,
                                          const model::ResourceList& freed = {});
  // The pod has a live hold and must use it: every other node that is known refuses it.
  bool keeps_to_its_hold() const;
  // The node keeps room for the pod.
  bool is_own_target(const scheduling::NodeRecord* node, std::string_view node_name) const;
  // What live holds keep on the node for other pods. The result may refer to `scratch`.
  const model::ResourceList& held_for_others(const scheduling::NodeRecord& node,
                                             model::ResourceList& scratch) const;

 private:
  bool counts(const scheduling::Hold& hold) const;
  bool all_count(const cluster::HoldList& holds) const;
  // What holds keep for pods that are not on the node yet.
  model::ResourceList awaited(const scheduling::NodeRecord& node) const;
  bool lacks_room(const scheduling::NodeRecord& node, const model::ResourceList& freed);
  bool lacks_room_beside_holds(const scheduling::NodeRecord& node,
                               const model::ResourceList& freed);
  model::ResourceList in_flight(const scheduling::NodeRecord& node, bool anywhere);

  const PodFacts& pod_;
  const Scene& scene_;
  const scheduling::Hold* hold_ = nullptr;  // the pod's, live or not
  const scheduling::Hold* own_ = nullptr;   // the same, when it is live
  // The node is past its grace: only holds of CapacityBuffers still count.
  bool only_buffers_count_ = false;
  std::optional<std::vector<cluster::PassPtr>> passes_;
  std::optional<model::ResourceList> all_passes_;
};

// Holds no longer bind once the node has been able to run pods for Policy::hold_after_ready.
bool is_past_grace(const scheduling::NodeRecord& node, const Policy& policy, base::TimePoint now);

}  // namespace millwright::extender
