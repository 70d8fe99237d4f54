// The policy that filter, preempt and prioritize share, for one pod and one instant.
#pragma once

#include "extender/policy/daemon_room.hpp"
#include "extender/policy/policy_snapshot.hpp"
#include "millwright/extender/extender.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace millwright::extender {

// What a Judge decides from.
struct Scene {
  const PolicySnapshot& seen;
  const Policy& policy;
  base::TimePoint now;
  DaemonRoom* daemons = nullptr;
  // In flight, the pod's own left out. Read before `seen`: a pod that was bound in between is then
  // in both, and not in neither.
  std::vector<cluster::PassPtr> passes = {};
};

class Judge {
 public:
  Judge(const PodFacts& pod, const Scene& scene);

  // Of the nodes that kube-scheduler asks about, the pod will use one that keeps room for it, if
  // there is one. Call it before refusal().
  void choose_among(const std::vector<std::string_view>& offered);
  // Why the node is refused; nullopt when it is not. `freed` is what preemption would free there.
  std::optional<std::string_view> refusal(const scheduling::NodeRecord* node,
                                          std::string_view node_name,
                                          const model::ResourceList& freed = {});
  // Every other node that is known refuses it: it goes to the chosen one, or the whole need of its
  // group is reserved.
  bool keeps_to_its_room() const { return keeps_ || !chosen_.empty(); }
  bool has_targets() const { return !targets_.empty(); }
  // The pod is one of those that its group needs more than is reserved for it.
  bool is_beyond_reserved() const { return !keeps_to_its_room(); }
  // The node keeps room for the pod.
  bool is_own_target(std::string_view node_name) const;
  // Nodes that keep room for the pod and are up, but were not offered.
  std::vector<std::string> ready_targets_beside(const std::vector<std::string_view>& offered) const;
  // What live reservations keep on the node for other pods. The result may refer to `scratch`.
  const model::ResourceList& reserved_for_others(const scheduling::NodeRecord& node,
                                                 model::ResourceList& scratch) const;

 private:
  struct Target {
    std::string name;  // the node's, or the claim's while it has none
    const scheduling::NodeRecord* node = nullptr;
    std::int32_t count = 0;
  };
  void find_targets();
  bool whole_need_is_reserved() const;
  std::int32_t coming_to(const Target& target) const;
  bool counts(const scheduling::Reservation& reservation) const;
  bool all_count(const cluster::ReservationList& reservations) const;
  bool lacks_room(const scheduling::NodeRecord& node, const model::ResourceList& freed);
  model::ResourceList in_flight(const scheduling::NodeRecord& node) const;
  const scheduling::Reservation* used_by(const cluster::Pass& pass,
                                         const scheduling::NodeRecord& node) const;
  const Target* find_target(std::string_view node_name) const;

  const PodFacts& pod_;
  const Scene& scene_;
  const cluster::LedgerView& ledger_;
  std::vector<Target> targets_;  // of the pod's group, live; sorted by name
  bool awaits_node_ = false;     // some of them has no node yet
  bool keeps_ = false;
  std::string_view chosen_;  // of `targets_`; empty: none
  std::optional<model::ResourceList> all_passes_;
};

}  // namespace millwright::extender
