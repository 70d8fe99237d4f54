// The ledger of promises: holds (room kept for named pods on a claim or node) and fences (nodes
// closed to new pods). Memory first, so that the extender answers without waiting for the loop;
// controllers mirror it on objects, so that every replica and a restarted one know the same.
// Thread-safe.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
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

// An immutable copy of the whole ledger at one instant.
struct LedgerView {
  std::uint64_t generation = 0;
  std::map<std::string, std::vector<scheduling::Hold>, std::less<>> holds_by_target;
  std::map<std::string, std::string, std::less<>> target_by_pod_uid;
  std::map<std::string, Fence, std::less<>> fences_by_node;
};
using LedgerViewPtr = std::shared_ptr<const LedgerView>;

class Ledger {
 public:
  Ledger();

  // A pod has at most one hold; a new one replaces the old.
  void hold(scheduling::Hold hold);
  void release(std::string_view pod_uid);
  void release_target(std::string_view target);
  // The claim's node has its name now: holds and deadlines move over.
  void rename_target(std::string_view claim, std::string_view node);
  // New deadline for every hold on the target (Ready + grace).
  void set_deadline(std::string_view target, base::TimePoint deadline);
  // Drops what is past its deadline; returns it, so that the pods can be woken.
  std::vector<scheduling::Hold> expire(base::TimePoint now);

  void fence(Fence fence);
  void unfence(std::string_view node);

  LedgerViewPtr view() const;

  // The extender reports that it let `pod_uid` pass to `node` at `now`: until the pod is seen
  // bound, refused, gone, or `kPassLifetime` is over, it may still land there.
  void passed(std::string_view pod_uid, std::string_view node, base::TimePoint now);
  void settled(std::string_view pod_uid);
  // Pods that may still land on the node. A removal waits until this is empty after its fence.
  std::vector<std::string> in_doubt(std::string_view node, base::TimePoint now) const;
  static constexpr base::Duration kPassLifetime = std::chrono::seconds(10);

 private:
  void publish();  // with the mutex held
  mutable std::mutex mutex_;
  std::shared_ptr<LedgerView> working_;
  mutable LedgerViewPtr published_;
  std::map<std::string, std::map<std::string, base::TimePoint, std::less<>>, std::less<>> passes_;
};

// Text forms for the mirror annotations (model::kHoldsAnnotation, kFenceAnnotation).
std::string encode_holds(const std::vector<scheduling::Hold>& holds);
base::Result<std::vector<scheduling::Hold>> decode_holds(std::string_view text,
                                                         std::string_view target);
std::string encode_fence(const Fence& fence);
base::Result<Fence> decode_fence(std::string_view text, std::string_view node);

}  // namespace millwright::cluster
