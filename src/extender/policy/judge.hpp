// The policy that filter, preempt and prioritize share, for one pod and one instant. It looks at a
// node by the hash of its name, at the pod's own targets through an index, and at pods in flight
// through Traffic, so that a call costs what its nodes cost and not what waits in the cluster.
#pragma once

#include "extender/policy/daemon_room.hpp"
#include "extender/policy/policy_snapshot.hpp"
#include "millwright/extender/extender.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace millwright::extender {

// What a Judge decides from.
struct Scene {
  const PolicySnapshot& seen;
  const Policy& policy;
  base::TimePoint now;
  DaemonRoom* daemons = nullptr;
  // At the instant of `seen` (Ledger::settled). nullptr: nobody asks about pods in flight.
  const cluster::Traffic* traffic = nullptr;
};

// A node that kube-scheduler asks about.
struct AskedNode {
  std::string_view name;
  std::uint64_t hash = 0;                          // Ledger::node_hash(name)
  const scheduling::NodeRecord* record = nullptr;  // nullptr: not known
};

class Judge {
 public:
  Judge(const PodFacts& pod, const Scene& scene);

  // Of the nodes that kube-scheduler asks about, the pod will use one that keeps room for it, if
  // there is one. Call it before refusal(). Hashes of names.
  void choose_among(std::span<const std::uint64_t> offered);
  // Why the node is refused; nullopt when it is not. `freed` is what preemption would free there.
  std::optional<std::string_view> refusal(const AskedNode& node,
                                          const model::ResourceList& freed = {});
  // The node takes no pods any more: it is fenced or marked for deletion.
  bool is_closed(const AskedNode& node) const;
  // Every other node that is known refuses it: it goes to the chosen one, or the whole need of its
  // group is reserved.
  bool keeps_to_its_room() const { return keeps_ || chosen_ != nullptr; }
  bool has_targets() const { return !targets_.empty(); }
  // The pod is one of those that its group needs more than is reserved for it.
  bool is_beyond_reserved() const { return !keeps_to_its_room(); }
  // The node keeps room for the pod.
  bool is_own_target(const AskedNode& node) const { return find_target(node) != nullptr; }
  // Nodes that keep room for the pod and are up, but were not offered.
  std::vector<std::string> ready_targets_not_offered() const;
  // What live reservations keep on the node for other pods. The result may refer to `scratch`.
  const model::ResourceList& reserved_for_others(const AskedNode& node,
                                                 model::ResourceList& scratch) const;

 private:
  struct Target {
    std::string name;  // the node's, or the claim's while it has none
    std::uint64_t hash = 0;
    const scheduling::NodeRecord* node = nullptr;
    std::int32_t count = 0;
    bool offered = false;
  };
  // What the pod requests of one resource, and what of it is left on a node beside the pod.
  struct Asked {
    std::string_view resource;
    model::Quantity amount;
    model::Quantity left;
    model::Quantity kept;  // for others; zero: nobody but kube-scheduler has a say
  };
  // Pods in flight that request the same.
  struct Flock {
    const cluster::Crowd* crowd;
    std::vector<model::Quantity> requests;  // in the order of `asked_`
  };
  void find_targets();
  void find_traffic();
  bool whole_need_is_reserved() const;
  bool as_many_go_elsewhere(const scheduling::GroupDemand& demand, std::int32_t beyond) const;
  std::int32_t coming_to(const Target& target) const;
  bool counts(const scheduling::Reservation& reservation) const;
  bool all_count(const cluster::ReservationList& reservations) const;
  bool lacks_room(const AskedNode& node, const model::ResourceList& freed);
  bool is_crowded(const AskedNode& node);
  void add_in_flight(const AskedNode& node);
  void subtract_what_uses_its_own(const AskedNode& node);
  const Target* find_target(const AskedNode& node) const;

  const PodFacts& pod_;
  const Scene& scene_;
  const cluster::LedgerView& ledger_;
  std::vector<Target> targets_;  // of the pod's group, live; sorted by name
  base::HashIndex own_;          // which of `targets_`, by hash
  bool awaits_node_ = false;     // some of them has no node yet
  bool keeps_ = false;
  const Target* chosen_ = nullptr;
  cluster::PassPtr own_pass_;  // what an earlier attempt of the pod left
  const cluster::Crowd* group_crowd_ = nullptr;
  std::vector<Asked> asked_;
  std::vector<Flock> flocks_;               // found when they are needed first
  std::vector<model::Quantity> in_flight_;  // on one node, in the order of `asked_`
};

}  // namespace millwright::extender
