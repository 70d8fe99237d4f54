// The room that CapacityBuffers ask for, as pods that do not exist, and where the latest plan put
// it. Loop thread only.
//
// These pods join every plan and every consolidation simulation. They are never the reason for an
// event about a pod, hold no room against real pods (unless their buffer asks for it) and give way
// to them: real pods that take a buffer's room are followed by a plan that makes it anew.
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

  // What a buffer comes to, or that it is gone.
  void set(const model::ObjectKey& buffer, Buffer content);
  void forget(const model::ObjectKey& buffer);
  // Every buffer of the snapshot was looked at: until then nobody knows what is empty.
  bool settled(const scheduling::Snapshot& snapshot) const;
  bool empty() const { return buffers_.empty(); }

  // A plan for buffers alone is wanted: something changed that may have taken their room.
  void ask() { due_ = !buffers_.empty(); }
  bool due() const { return due_; }
  void planned() { due_ = false; }

  bool is_virtual(std::string_view pod_uid) const;
  // Pods to plan. Left out are those whose claim is on its way and cannot be planned onto yet.
  std::vector<scheduling::PodPtr> to_plan(const scheduling::Snapshot& snapshot) const;
  // Where a plan put the pod: a node's or claim's name, or empty when it found no place.
  void place(std::string_view pod_uid, std::string target);

  // Room kept for the buffer's own workload, once the pod's place is a node that is up: the hold
  // to put into the ledger. hold_id() names it there. Nothing when anybody may use the room.
  std::optional<scheduling::Hold> hold_for(std::string_view pod_uid,
                                           const scheduling::Snapshot& snapshot,
                                           base::TimePoint deadline) const;
  static std::string hold_id(std::string_view pod_uid);
  std::vector<std::string> pod_uids(const model::ObjectKey& buffer) const;
  std::vector<std::string> pod_uids() const;

  // Pods that have a place, and the names of the nodes or claims in flight that keep room.
  std::vector<scheduling::PodPtr> placed_pods() const;
  std::set<std::string, std::less<>> nodes(const scheduling::Snapshot& snapshot) const;

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

// `count` pods of the template: "capacity-buffer-<name>-<i>", without volumes that would have to
// be made for them.
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
