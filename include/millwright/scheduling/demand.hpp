// Who needs room, and for whom room is kept. The unit is the group: pods of one controller that the
// scheduler cannot tell apart. Which of them gets which place makes no difference to anybody, and
// an evicted pod comes back under another name, so nothing here names a single pod.
#pragma once

#include "millwright/model/pod.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::scheduling {

using PodPtr = std::shared_ptr<const model::Pod>;

// Pods of one controller with one scheduling fingerprint; a pod without a controller is a group of
// its own. Equal in every process and version that computes the same fingerprint. Copies share the
// text.
class GroupId {
 public:
  GroupId() = default;
  explicit GroupId(std::string text)
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  // Every pod of the controller, whatever it asks for.
  static GroupId of_owner(std::string_view owner_uid);

  // "<uid of the controller or of the pod>/<fingerprint>"; the fingerprint is "*" for of_owner().
  const std::string& text() const { return text_ ? *text_ : kNone; }
  std::string_view owner_uid() const;
  bool is_whole_owner() const { return text().ends_with("/*"); }
  // A pod of the group `other` is one of this one.
  bool includes(const GroupId& other) const {
    return *this == other || (is_whole_owner() && owner_uid() == other.owner_uid());
  }
  friend bool operator==(const GroupId& a, const GroupId& b) {
    return a.text_ == b.text_ || a.text() == b.text();
  }
  friend std::strong_ordering operator<=>(const GroupId& a, const GroupId& b) {
    return a.text_ == b.text_ ? std::strong_ordering::equal : a.text() <=> b.text();
  }

 private:
  static inline const std::string kNone;
  std::shared_ptr<const std::string> text_;
};

// The fingerprint covers what kube-scheduler's filters look at and pods of one template share:
// requests, node selector, affinity, tolerations, spread constraints, host ports, volume claims,
// resource claims, priority and scheduler. A bound pod is in the same group as its successor.
GroupId group_of(const model::Pod& pod);

// One of its volume claims was made for this pod alone: "<template>-<pod>", as StatefulSets name
// them. Its successor has the same name and claim, and so the same group; other pods of the
// controller have groups of their own.
bool has_own_claim(const model::Pod& pod);

// Room kept on one target for so many pods of a group.
struct Reservation {
  GroupId group;
  std::string target;  // a node's name, or that of a claim which has no node yet
  std::int32_t count = 0;
  model::ObjectKey sample;       // one of the pods, for messages
  model::ResourceList requests;  // of one pod
  std::int32_t priority = 0;
  base::TimePoint until;
  // Room of a CapacityBuffer: kept however long it is not used.
  bool of_buffer = false;
  // Any pod of at least `priority` may use it, whatever its group.
  bool open = false;
  // Written by an earlier process, and read when this one started: some of the pods may have come
  // and gone since.
  bool inherited = false;

  friend bool operator==(const Reservation&, const Reservation&) = default;
};
// "3 pods such as default/web-5c7d9"
std::string describe_pods(const Reservation& reservation);

// What the pods of one group need.
struct GroupDemand {
  GroupId group;
  std::vector<PodPtr> waiting;  // bound nowhere and free to be scheduled; sorted by name
  std::vector<PodPtr> leaving;  // on nodes that are marked for deletion; sorted by uid
  std::int32_t expected = 0;    // the controller is about to create so many more
  // Pods that will come back some time: they keep what is reserved, and nothing is planned for
  // them.
  std::int32_t later = 0;
  PodPtr sample;  // what an expected pod will look like; never nullptr

  std::int32_t needed() const {
    return static_cast<std::int32_t>(waiting.size() + leaving.size()) + expected;
  }
  // Reservations beyond this are surplus.
  std::int32_t most_reserved() const { return needed() + later; }
};

// Of all groups that need anything, sorted by group.
using Demand = std::vector<GroupDemand>;
// nullptr when the group needs nothing.
const GroupDemand* find_demand(const Demand& demand, const GroupId& group);

}  // namespace millwright::scheduling
