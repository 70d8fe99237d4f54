// The cluster state: a mirror of the cluster's objects, built from watch events in any order.
// Informers call upsert and remove; readers take immutable snapshots. Loop thread only, but for
// latest(), which any thread may call.
//
// Nodes and NodeClaims are joined by providerID under Karpenter's cluster state rules. An event
// that is clearly older than what is known (the same uid with a lower resourceVersion, or an
// object of the name created earlier) is ignored.
//
// Workloads and quotas are in no snapshot. A change of a workload is reported only when it wants
// another number of pods, or wants them in another way, or is heard for the first time since some
// of its pods went.
//
// State also keeps the ledger up to date with what every replica sees:
// - a pod that is bound uses a reservation of its group on its node, and one that is bound, over or
//   gone ends its attempts in flight; the ledger and the snapshot that shows the pod change
//   together, so that at no moment its room is missing from both or counted twice;
// - a pod that kube-scheduler reports not placed ends its attempt, if that has lasted for a while
//   (Ledger::attempt_failed);
// - attempts of pods that were not known yet are compared with what is shown now
//   (Ledger::compare_unseen);
// - what is reserved for a group never exceeds what the group needs: surplus is freed at once, and
//   where it is least missed;
// - a claim that gets its node passes its reservations on to the node's name;
// - a target that is gone loses its reservations; a Node that is gone loses its fence;
// - mirror annotations of NodeClaims (model::kReservationsAnnotation; kFenceAnnotation once it has
//   its node) are read when their text changes, so that followers and a restarted process know what
//   the leader decided. Those of Nodes count for nothing. Nothing is used or freed before the state
//   is synced: pods, nodes and claims are listed in any order.
#pragma once

#include "millwright/cluster/ledger.hpp"
#include "millwright/cluster/watched_kinds.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cluster {

class State {
 public:
  using Clock = std::function<base::TimePoint()>;

  // A clock that stands still: enough where no mirror ends and no pod is forgotten.
  static base::TimePoint no_time() { return {}; }

  // By the clock mirrors that are out of date are left out, and pods that went are forgotten. A
  // mirrored reservation ends after `longest_reservation` at the latest, whatever it says; nullopt:
  // it is believed.
  explicit State(Ledger& ledger, Clock clock = no_time,
                 std::optional<base::Duration> longest_reservation = std::nullopt);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // An object was created or changed.
  void upsert(WatchedObject object);

  // The API server's answer to a write of an object, as upsert(). It may be older than the object's
  // end, and arrive after that: what is not here, or is another object of the name, stays so.
  void answered(WatchedObject object);

  // What a watch tells of an object that is gone, beside its name.
  struct Gone {
    std::string_view uid;    // the end of an earlier pod of the name is ignored
    std::string_view kind;   // of those that are read as NodeClass, PodSelector or Workload
    std::string_view group;  // of NodeClasses: two groups may have one kind
  };
  template <class T>
  void remove(const model::ObjectKey& key, Gone gone = {}) {
    remove(kKindOf<T>, key, gone);
  }

  // The API server is being asked to create a claim of that name: should it come and go before the
  // answer arrives, the answer does not bring it back. Until stop_expecting().
  void expect_claim(const std::string& name);
  void stop_expecting(const std::string& name);
  // A claim just created by us counts before its event arrives; the event replaces it.
  void assume(std::shared_ptr<const model::NodeClaim> claim);
  // The API server says that there is no such claim. One that no event has shown yet is forgotten;
  // of others the watch tells the end.
  void withdraw(const model::NodeClaim& claim);
  // Chosen for removal: no new pods are planned there. By claim name.
  void mark_for_deletion(std::string_view claim, bool marked);
  void nominate(std::string_view node_or_claim, base::TimePoint until);
  // Whether the first lists are complete: before that, nothing may be decided from a snapshot.
  void set_synced(bool synced);
  // Whether what is known may still be true: false once a watch has been silent for too long. Until
  // it is true again no snapshot is synced, so that nothing is decided or refused.
  void set_fresh(bool fresh);

  // Cheap when nothing changed since the last call. Followers need one now and then too: latest()
  // is what their extender answers from.
  scheduling::SnapshotPtr snapshot();
  // The record that snapshot() has of the claim, without a walk over all of its nodes; nullptr when
  // there is none.
  scheduling::NodeRecordPtr find_claim(std::string_view name);
  // A NodeClaim and the Node that it is joined with, as they are now; either may be missing. No
  // snapshot is made for them, so that thousands of events in a row cost no walk each.
  struct Joined {
    std::shared_ptr<const model::NodeClaim> claim;
    std::shared_ptr<const model::Node> node;
  };
  Joined joined_by_claim(std::string_view name) const;
  Joined joined_by_node(std::string_view name) const;
  // nullptr when there is none. No snapshot is made for it.
  std::shared_ptr<const model::NodePool> find_pool(std::string_view name) const;
  std::shared_ptr<const model::ResourceSlice> find_slice(std::string_view name) const;
  // The newest snapshot made; never nullptr. Any thread.
  scheduling::SnapshotPtr latest() const;
  // The newest snapshot with the ledger as it is now: a pod that the snapshot does not show bound
  // has its room in the ledger, and no other. Any thread.
  struct Sight {
    scheduling::SnapshotPtr snapshot;
    LedgerViewPtr ledger;
  };
  Sight sight() const;

  // Pods bound elsewhere, so far, though room was reserved for all that their groups needed.
  std::uint64_t placed_elsewhere() const;

  // Called on the loop after every change of an object. Callbacks add up; they run in the order
  // they were added.
  void on_change(std::function<void(Kind kind, const model::ObjectKey& key)> callback);
  // Called on the loop when snapshots begin to be synced: with the last of the first lists, and
  // when the state is fresh again.
  void on_synced(std::function<void()> callback);
  // Called with one sentence for people when a mirror annotation cannot be read; it is ignored.
  void on_problem(std::function<void(const std::string& message)> callback);

 private:
  void remove(Kind kind, const model::ObjectKey& key, Gone gone);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millwright::cluster
