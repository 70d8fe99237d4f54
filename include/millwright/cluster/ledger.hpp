// The ledger: holds (room kept for named pods on a claim or node) and fences (nodes closed to new
// pods). It is in memory, so that the extender answers without waiting for the loop; controllers
// mirror it on objects, so that other replicas and a restarted one read it back. Thread-safe.
#pragma once

#include "millwright/cluster/shared_map.hpp"
#include "millwright/scheduling/snapshot.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
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

// The holds of one target, sorted by HoldId; immutable and shared between views.
class HoldList {
 public:
  // Enough to judge most requests without a walk over the list.
  struct Summary {
    model::ResourceList requests;  // of all holds together
    std::int32_t lowest_priority = 0;
    base::TimePoint earliest_deadline;
    bool awaits_heir = false;  // some hold is not a pod's own
  };

  HoldList() = default;
  explicit HoldList(std::vector<scheduling::Hold> holds);

  const std::vector<scheduling::Hold>& items() const;
  const Summary& summary() const;
  // Shares the list. Never nullptr.
  std::shared_ptr<const std::vector<scheduling::Hold>> share() const;
  // NOLINTNEXTLINE(google-explicit-constructor): a HoldList is read as the vector it shares.
  operator const std::vector<scheduling::Hold>&() const { return items(); }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  std::size_t size() const { return items().size(); }
  bool empty() const { return items().empty(); }
  const scheduling::Hold& front() const { return items().front(); }
  const scheduling::Hold& operator[](std::size_t index) const { return items()[index]; }
  // nullptr when there is none.
  const scheduling::Hold* find(scheduling::HoldKind kind, std::string_view pod_uid) const;
  friend bool operator==(const HoldList& a, const HoldList& b) {
    return a.block_ == b.block_ || a.items() == b.items();
  }

 private:
  struct Block {
    std::vector<scheduling::Hold> holds;
    Summary summary;
  };
  static const std::shared_ptr<const Block>& none();
  std::shared_ptr<const Block> block_ = none();
};

// An immutable copy of the whole ledger at one instant. Copies share what did not change.
struct LedgerView {
  std::uint64_t generation = 0;
  SharedMap<HoldList> holds_by_target;
  std::array<SharedMap<std::string>, 3> targets_by_kind;  // by HoldKind, then pod uid
  SharedMap<Fence> fences_by_node;

  SharedMap<std::string>& targets(scheduling::HoldKind kind) {
    return targets_by_kind[static_cast<std::size_t>(kind)];
  }
  const SharedMap<std::string>& targets(scheduling::HoldKind kind) const {
    return targets_by_kind[static_cast<std::size_t>(kind)];
  }
  // nullptr when there is none.
  const scheduling::Hold* find(scheduling::HoldKind kind, std::string_view pod_uid) const;
  const scheduling::Hold* find(const scheduling::HoldId& id) const {
    return find(id.kind, id.pod_uid);
  }
  // The pod's own hold.
  const scheduling::Hold* hold_of(std::string_view pod_uid) const {
    return find(scheduling::HoldKind::Pod, pod_uid);
  }
};
using LedgerViewPtr = std::shared_ptr<const LedgerView>;

// One scheduling attempt that the extender let through and that may still end in a binding.
struct Pass {
  std::string pod_uid;
  base::TimePoint at;
  model::ResourceList requests;
  bool everywhere = false;                 // not known yet, or no longer, on which nodes
  std::vector<std::uint64_t> node_hashes;  // sorted; see Ledger::node_hash()
  bool may_land_on(std::uint64_t node_hash) const;
};
using PassPtr = std::shared_ptr<const Pass>;

class Ledger {
 public:
  Ledger();
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // A new hold replaces the old one of the same HoldId.
  void hold(scheduling::Hold hold);
  // A whole plan's holds become visible together.
  void hold_all(std::vector<scheduling::Hold> holds);
  void release(const scheduling::HoldId& id);
  void release_target(std::string_view target);
  // The claim has a node now: its holds move over to the node's name.
  void rename_target(std::string_view claim, std::string_view node);
  // New deadline for every hold on the target (Ready + grace).
  void set_deadline(std::string_view target, base::TimePoint deadline);
  // The target is gone: its holds no longer count, and the next expire() returns them.
  void lapse(std::string_view target);
  // Drops what is past its deadline; returns it, so that the pods can be woken.
  std::vector<scheduling::Hold> expire(base::TimePoint now);

  void fence(Fence fence);
  void unfence(std::string_view node);

  // Takes over what a mirror annotation of the object `source` ("NodeClaim/a", "Node/b") says, in
  // place of what the same source said before. What this process decided itself is newer than any
  // mirror: its own holds and fences stay, and those it ended do not come back.
  void adopt_holds(std::string_view source, std::string_view target,
                   std::vector<scheduling::Hold> holds);
  void adopt_fence(std::string_view source, std::string_view node, std::optional<Fence> fence);

  // These pods are bound, terminal or gone: ends their own holds and their attempts. Returns the
  // view's generation before and after.
  struct Generations {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
  };
  Generations drop_pods(std::span<const std::string> pod_uids);

  LedgerViewPtr view() const;

  // The extender reports that it let `pod_uid` pass to `node` at `now`: until the pod is seen
  // bound, refused, gone, or `kPassLifetime` is over, it may still land there.
  void passed(std::string_view pod_uid, std::string_view node, base::TimePoint now);
  // A scheduling attempt begins: until attempted() is called, the pod may land anywhere. Call it
  // before view(), so that either the attempt sees a fence or in_doubt() sees the attempt.
  void attempt(std::string_view pod_uid, base::TimePoint now);
  // The attempt let these nodes pass, given as node_hash() in any order. Replaces what earlier
  // attempts of the pod left (kube-scheduler runs one attempt per pod at a time).
  void attempted(std::string_view pod_uid, const model::ResourceList& requests,
                 std::vector<std::uint64_t> node_hashes, base::TimePoint now);
  void attempted(std::string_view pod_uid, const model::ResourceList& requests,
                 std::span<const std::string_view> nodes, base::TimePoint now);
  // The pod is bound, gone, or was refused everywhere: its attempt has ended.
  void end_attempt(std::string_view pod_uid);
  // Pods that may still land on the node, sorted by uid. A removal waits until this is empty after
  // its fence.
  std::vector<std::string> in_doubt(std::string_view node, base::TimePoint now) const;
  // Every attempt that may still end in a binding, sorted by pod uid.
  std::vector<PassPtr> passes(base::TimePoint now) const;
  // A hash collision makes a removal wait for a pod that cannot come; it never hides one.
  static std::uint64_t node_hash(std::string_view node);

  static constexpr base::Duration kPassLifetime = std::chrono::seconds(10);
  // Beyond so many attempts in flight the newest are kept as "everywhere", and beyond eight times
  // as many the oldest are forgotten: memory stays bounded whatever a scheduler does.
  static constexpr std::size_t kDetailedPasses = 4096;
  // How many ended holds and fences are remembered against late mirrors.
  static constexpr std::size_t kEndedRemembered = 8192;

 private:
  struct Promises;
  struct Attempts;
  mutable std::mutex promises_mutex_;
  std::unique_ptr<Promises> promises_;
  mutable LedgerViewPtr published_;
  mutable std::mutex attempts_mutex_;
  std::unique_ptr<Attempts> attempts_;
};

// Text forms for the mirror annotations (model::kHoldsAnnotation, kFenceAnnotation): JSON, times
// in microseconds. Decoding refuses what it does not understand and says where.
std::string encode_holds(const std::vector<scheduling::Hold>& holds);
base::Result<std::vector<scheduling::Hold>> decode_holds(std::string_view text,
                                                         std::string_view target);
std::string encode_fence(const Fence& fence);
base::Result<Fence> decode_fence(std::string_view text, std::string_view node);

}  // namespace millwright::cluster
