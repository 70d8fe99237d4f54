// The room that CapacityBuffers ask for, as virtual pods, and where the latest plan put them. Loop
// thread only.
//
// Virtual pods take part in every plan and every consolidation simulation. No event is posted about
// them. Their room is not reserved, unless their buffer asks for it, so real pods may take it; the
// next plan then makes room for the buffer again.
#pragma once

#include "millwright/controllers/services.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::controllers {

class BufferRoom {
 public:
  struct Buffer {
    std::string uid;
    std::vector<scheduling::PodPtr> pods;  // named and numbered as virtual_pods() does
    // Controller whose pods alone may use the room (annotation millwright.io/keep-for-owner);
    // empty: anybody's.
    std::string owner_uid;
  };

  // A buffer's content changed; it was deleted.
  void set(const model::ObjectKey& buffer, Buffer content);
  void forget(const model::ObjectKey& buffer);
  // Every buffer of the snapshot has been planned. Before that, a node that keeps room for a buffer
  // would look empty.
  bool all_planned(const scheduling::Snapshot& snapshot) const;

  // Asks for a plan even if no real pod needs one: something may have taken the buffers' room.
  void ask() { due_ = !buffers_.empty(); }
  bool due() const { return due_; }
  void planned() { due_ = false; }

  // Pods to plan, without those on a claim that is not launched: its size is not known yet.
  std::vector<scheduling::PodPtr> to_plan(const scheduling::Snapshot& snapshot) const;
  // Notes where a plan put the pod: a node's or claim's name, or empty when it found no place.
  void place(std::string_view pod_uid, std::string target);

  // What is to be reserved, until `until`, for the workloads of buffers that keep their room for
  // them: one reservation for each workload and initialised node.
  std::vector<scheduling::Reservation> reservations(const scheduling::Snapshot& snapshot,
                                                    base::TimePoint until) const;
  // Uids of the pods that the reservation was made for.
  std::vector<std::string> placed_on(const scheduling::Reservation& reservation,
                                     const scheduling::Snapshot& snapshot) const;
  std::vector<std::string> pod_uids(const model::ObjectKey& buffer) const;

  // Pods that have a place, and the names of the nodes or claims where they are.
  std::vector<scheduling::PodPtr> placed_pods() const;
  std::set<std::string, std::less<>> nodes(const scheduling::Snapshot& snapshot) const;
  // Whether some have it on the claim, which has no node yet.
  bool is_on(std::string_view claim) const;

  enum class Fit : std::uint8_t { Unknown, Existing, New };
  // Whether all of the buffer's room is on nodes that are up.
  Fit fit(const model::ObjectKey& buffer, const scheduling::Snapshot& snapshot) const;

 private:
  struct Place {
    scheduling::PodPtr pod;
    bool planned = false;
    std::string target;
    std::string owner_uid;
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
