// The ledger: reservations (room kept for so many pods of a group on a claim or node) and fences
// (nodes closed to new pods). It is in memory, so that the extender answers without waiting for the
// loop; controllers mirror it on objects, so that other replicas and a restarted one read it back.
// Thread-safe.
#pragma once

#include "millwright/cluster/shared_map.hpp"
#include "millwright/cluster/traffic.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cluster {

struct Fence {
  std::string node;    // Node name
  std::string reason;  // "Underutilized"
  base::TimePoint since;
  friend bool operator==(const Fence&, const Fence&) = default;
};

// The reservations of one target, sorted by group; immutable and shared between views.
class ReservationList {
 public:
  // Enough to judge most requests without a walk over the list.
  struct Summary {
    model::ResourceList requests;  // of all pods together
    std::int32_t lowest_priority = 0;
    base::TimePoint earliest_end;
    bool any_whole_owner = false;
  };

  ReservationList() = default;
  explicit ReservationList(std::vector<scheduling::Reservation> reservations);

  const std::vector<scheduling::Reservation>& items() const;
  const Summary& summary() const;
  // Shares the list. Never nullptr.
  std::shared_ptr<const std::vector<scheduling::Reservation>> share() const;
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  std::size_t size() const { return items().size(); }
  bool empty() const { return items().empty(); }
  // nullptr when there is none.
  const scheduling::Reservation* find(const scheduling::GroupId& group) const;
  friend bool operator==(const ReservationList& a, const ReservationList& b) {
    return a.block_ == b.block_ || a.items() == b.items();
  }

 private:
  struct Block {
    std::vector<scheduling::Reservation> reservations;
    Summary summary;
  };
  static const std::shared_ptr<const Block>& none();
  std::shared_ptr<const Block> block_ = none();
};

// An immutable copy of the whole ledger at one instant. Copies share what did not change.
struct LedgerView {
  std::uint64_t generation = 0;
  SharedMap<ReservationList> by_target;
  SharedMap<std::vector<std::string>> targets_by_group;  // by GroupId::text(); sorted
  SharedMap<Fence> fences_by_node;

  // nullptr when there is none.
  const scheduling::Reservation* find(const scheduling::GroupId& group,
                                      std::string_view target) const;
  // Sorted names; empty when nothing is reserved.
  const std::vector<std::string>& targets_of(const scheduling::GroupId& group) const;
  // Of all targets together.
  std::int32_t reserved(const scheduling::GroupId& group) const;
};
using LedgerViewPtr = std::shared_ptr<const LedgerView>;

class Ledger {
 public:
  Ledger();
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Adds to what is reserved for the group on the target; priority and end are the newer ones.
  void reserve(scheduling::Reservation reservation);
  // A whole plan's reservations become visible together.
  void reserve_all(std::vector<scheduling::Reservation> reservations);
  // In place of what is reserved for the group there; a count of 0 ends it.
  void set_reservation(scheduling::Reservation reservation);
  // Frees so much of it; never more than there is.
  void lower(const scheduling::GroupId& group, std::string_view target, std::int32_t by);
  void release_target(std::string_view target);
  // The claim has its node: its reservations move over to the node's name.
  void rename_target(std::string_view claim, std::string_view node);
  // New end for every reservation on the target (Ready + grace).
  void set_end(std::string_view target, base::TimePoint end);
  // Drops what is past its end, attempts too; returns the reservations, so that their demand can be
  // planned anew.
  std::vector<scheduling::Reservation> expire(base::TimePoint now);

  void fence(Fence fence);
  void unfence(std::string_view node);

  // Takes over what a NodeClaim's mirror annotation says about a target, once: it is written when
  // the claim is created, and what this process knows since then is newer.
  void adopt_reservations(std::string_view target,
                          std::vector<scheduling::Reservation> reservations);
  // The same for a fence that a NodeClaim tells of; a fence that this process ended does not come
  // back.
  void adopt_fence(std::string_view claim, std::string_view node, std::optional<Fence> fence);
  // The target is gone: its reservations end, and another of that name may be adopted.
  void forget_target(std::string_view target);

  // A pod is bound, terminal or gone.
  struct Arrival {
    std::string pod_uid;
    scheduling::GroupId group;
    std::string node;  // empty: it is not bound anywhere
  };
  // Ends the pods' attempts. A bound one has used a reservation of its group on its node, if there
  // is one.
  void settle(std::span<const Arrival> arrivals);

  LedgerViewPtr view() const;

  // A scheduling attempt begins: until attempted() is called, the pod may land anywhere. Call it
  // before view(), so that either the attempt sees a fence or any_in_doubt() the attempt. `seen`:
  // the newest snapshot shows the pod waiting. An attempt of a pod that it does not show changes no
  // attempt of one that was seen, and of such attempts the newest kMostUnseen are kept.
  void attempt(std::string_view pod_uid, base::TimePoint now, bool seen = true);
  // The attempt let these nodes pass: until the pod is seen bound, refused, gone, or `until` is
  // over, it may still land there. It takes the place of the pod's attempt before, since
  // kube-scheduler runs one attempt per pod at a time. Only removals still wait for that one, for
  // kPassLifetime at most: where one kube-scheduler takes over from another, the first one's
  // request to bind may be on its way. Nothing tells this from a retry by the same kube-scheduler,
  // whose last attempt is over. Such a retry follows a binding that failed, which is rare, and
  // makes a removal wait for ten seconds that it need not.
  void attempted(Pass pass);
  // What the watch shows of a pod: the version of it with this key and uid; nullptr: none.
  using FindPod =
      std::function<const model::Pod*(const model::ObjectKey& key, std::string_view uid)>;
  // Compares the attempts of unseen pods with the newest snapshot. One that it shows waiting counts
  // from now on as the snapshot has it; the attempt of one that it shows bound or over ends.
  void compare_unseen(const FindPod& find);
  // The pod is bound or gone: its attempts have ended.
  void end_attempt(std::string_view pod_uid);
  // kube-scheduler reports that it did not place the pod. That ends an attempt that has lasted for
  // kPassLifetime; reports come late, and one that comes sooner may be about an earlier attempt.
  void attempt_failed(std::string_view pod_uid);
  // Whether a pod may still land on the node. A removal waits until none may, after its fence.
  bool any_in_doubt(std::string_view node, base::TimePoint now) const;
  // Those pods, sorted by uid.
  std::vector<std::string> in_doubt(std::string_view node, base::TimePoint now) const;
  // Until then, pods that this process did not let through may land on any node: another replica
  // answered kube-scheduler, or nobody did. A removal waits for that, too.
  void expect_unseen(base::TimePoint until);
  bool may_be_unseen(base::TimePoint now) const;
  // The pod's attempt, if it was let through and has not ended; else nullptr.
  PassPtr pass_of(std::string_view pod_uid) const;
  // Every attempt that may still end in a binding, sorted by pod uid.
  std::vector<PassPtr> passes(base::TimePoint now) const;
  // How many attempts settle() has ended so far. If it is the same before a sight is taken and in
  // the traffic taken after it, then every pod is bound in the one or in flight in the other, and
  // none in both.
  std::uint64_t settled() const;
  // The same passes, to be asked about nodes and groups. Waits for settle() and the like.
  Traffic traffic(base::TimePoint now) const;
  // A hash collision makes a removal wait for a pod that cannot come; it never hides one.
  static std::uint64_t node_hash(std::string_view node);

  // From the answer to the binding, in a scheduling cycle that waits for nothing.
  static constexpr base::Duration kPassLifetime = std::chrono::seconds(10);
  // kube-scheduler's bindTimeoutSeconds: how long its binding cycle waits for volumes.
  static constexpr base::Duration kVolumeBindTimeout = std::chrono::seconds(600);
  // Beyond so many attempts in flight the newest are kept as "everywhere", and beyond eight times
  // as many the oldest are forgotten: memory stays bounded whatever a scheduler does.
  static constexpr std::size_t kDetailedPasses = 4096;
  // Some 100 MiB: the same becomes of attempts that would name more nodes than this together, or
  // more different ones, or need more counters of pods by node.
  static constexpr std::size_t kNamedNodes = 4U << 20;
  static constexpr std::size_t kDifferentNodes = 128U << 10;
  static constexpr std::size_t kNodeCounters = 32U << 20;
  // kube-scheduler may have heard of a pod before us, so attempts of pods that no snapshot shows
  // are believed, but not more of them than it can try while our watch lags behind.
  static constexpr std::size_t kMostUnseen = 1024;
  // How many ended fences are remembered against late mirrors.
  static constexpr std::size_t kEndedRemembered = 8192;

 private:
  struct Book;
  mutable std::mutex book_mutex_;
  std::unique_ptr<Book> book_;
  mutable LedgerViewPtr published_;
  mutable std::mutex attempts_mutex_;
  std::unique_ptr<Attempts> attempts_;
  base::TimePoint unseen_until_ = base::TimePoint::min();
};

// Text forms for the mirror annotations (model::kReservationsAnnotation, kFenceAnnotation): JSON,
// times in microseconds. Decoding refuses what it does not understand and says where.
std::string encode_reservations(const std::vector<scheduling::Reservation>& reservations);
base::Result<std::vector<scheduling::Reservation>> decode_reservations(std::string_view text,
                                                                       std::string_view target);
std::string encode_fence(const Fence& fence);
base::Result<Fence> decode_fence(std::string_view text, std::string_view node);

}  // namespace millwright::cluster
