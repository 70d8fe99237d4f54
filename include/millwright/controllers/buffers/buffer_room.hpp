// The room that CapacityBuffers ask for, as virtual pods, and where the latest plan put them. Loop
// thread only.
//
// Virtual pods take part in every plan and every consolidation simulation. No event is posted about
// them. Their room is not reserved, unless their buffer asks for it, so real pods may take it; the
// next plan then makes room for the buffer again. When a node is removed, the removal moves the
// room; plans leave it alone meanwhile.
#pragma once

#include "millwright/controllers/services.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

class BufferRoom {
 public:
  // For whom room is reserved.
  struct Owner {
    std::string uid;            // of the pods' controller; of the buffer when the room is open
    std::int32_t priority = 0;  // of the pods; those of higher priority may take the room
    bool open = false;          // for any pod of at least that priority
    friend bool operator==(const Owner&, const Owner&) = default;
  };
  struct Buffer {
    std::string uid;
    std::vector<scheduling::PodPtr> pods;  // named and numbered as virtual_pods() does
    // Annotation millwright.io/keep-for-owner; nullopt: nothing is reserved.
    std::optional<Owner> owner;
  };
  // Room that a removal moves away from a node.
  struct Move {
    std::string pod_uid;
    std::string from;  // the node's name
  };

  // What a buffer comes to now. True when its room has another owner than before.
  bool set(const model::ObjectKey& buffer, Buffer content);
  // The buffer was deleted.
  void forget(const model::ObjectKey& buffer);
  // Every buffer of the snapshot has been planned. Before that, a node that keeps room for a buffer
  // would look empty.
  bool all_planned(const scheduling::Snapshot& snapshot) const;

  // Asks for a plan even if no real pod needs one: something may have taken the buffers' room.
  void ask() { due_ = !buffers_.empty(); }
  bool due() const { return due_; }
  void planned() { due_ = false; }

  // Pods to plan, without those on a claim that is not launched, since its size is not known yet,
  // and those whose room is being moved.
  std::vector<scheduling::PodPtr> to_plan(const scheduling::Snapshot& snapshot) const;
  // Notes where a plan put the pod: a node's or claim's name, or empty when it found no place. A
  // plan that began before a move does not undo it.
  void place(std::string_view pod_uid, std::string target);

  // The nodes are about to be removed: until end_move(), their room is the removal's to place.
  std::vector<Move> begin_move(const std::vector<scheduling::NodeRecordPtr>& nodes);
  // Notes where the removal put the pod: a node's or claim's name. False when it is no virtual pod.
  bool move(std::string_view pod_uid, std::string target);
  // The nodes are gone, or they stay: room that has no node that is up is then on them again.
  void end_move(const std::vector<Move>& moves, const scheduling::Snapshot& snapshot);

  // What is to be reserved, until `until`, for the owners of buffers: one reservation for each
  // owner and node, or claim that has no node yet.
  std::vector<scheduling::Reservation> reservations(const scheduling::Snapshot& snapshot,
                                                    base::TimePoint until) const;
  // Uids of the pods that the reservation was made for.
  std::vector<std::string> placed_on(const scheduling::Reservation& reservation,
                                     const scheduling::Snapshot& snapshot) const;
  std::vector<std::string> pod_uids(const model::ObjectKey& buffer) const;

  // Pods that have a place.
  std::vector<disruption::VirtualPod> placed_pods(const scheduling::Snapshot& snapshot) const;
  // The names of the nodes or claims where they are.
  std::set<std::string, std::less<>> nodes(const scheduling::Snapshot& snapshot) const;
  // Every place is on a node that is up and stays. Pods for which there is no place do not count.
  bool all_up(const scheduling::Snapshot& snapshot) const;

  enum class Fit : std::uint8_t { Unknown, Existing, New };
  // Whether all of the buffer's room is on nodes that are up.
  Fit fit(const model::ObjectKey& buffer, const scheduling::Snapshot& snapshot) const;

 private:
  struct Place {
    scheduling::PodPtr pod;
    bool planned = false;
    bool moving = false;
    std::string target;
    std::optional<Owner> owner;
  };
  std::map<model::ObjectKey, Buffer> buffers_;
  std::map<std::string, Place, std::less<>> places_;  // by pod uid
  bool due_ = false;
};

// `count` pods of the template, called "capacity-buffer-<name>-<i>". They have no volumes: the
// template's claims belong to other pods.
std::vector<scheduling::PodPtr> virtual_pods(const model::CapacityBuffer& buffer,
                                             const model::PodTemplate& pod_template,
                                             std::int64_t count);

// How many pods a buffer keeps room for: the larger of spec.replicas and spec.percentage of the
// workload's replicas, at most what spec.limits hold; what the limits hold when neither is given.
// `workload_replicas` is nullopt for a pod template.
std::int64_t buffer_replicas(const model::CapacityBuffer& buffer,
                             std::optional<std::int64_t> workload_replicas,
                             const model::ResourceList& requests);

}  // namespace millwright::controllers
