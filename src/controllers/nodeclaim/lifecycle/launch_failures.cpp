#include "controllers/nodeclaim/lifecycle/launch_failures.hpp"

#include "millwright/cloud/error_text.hpp"

namespace millwright::controllers {
namespace {

constexpr auto kTellPodAgain = std::chrono::minutes(5);
constexpr std::size_t kMessageLimit = 300;

std::string reason_of(const base::Error& error) {
  switch (error.kind) {
    case base::ErrorKind::NoCapacity:
      return "InsufficientCapacityError";
    case base::ErrorKind::NotReady:
      return "NodeClassNotReady";
    default:
      return "LaunchFailed";
  }
}

std::string remedy_for(const base::Error& error, const model::NodeClaim& claim) {
  const auto& node_class = claim.node_class_ref;
  switch (error.kind) {
    case base::ErrorKind::NoCapacity:
      return "It is planned again without what is sold out; NodePool " +
             claim.meta.label(model::kNodePoolLabel) +
             " may allow more instance types, zones or capacity types";
    case base::ErrorKind::NotReady:
      return "See the conditions of " + node_class.kind + " " + node_class.name;
    case base::ErrorKind::Denied:
      return "Give the controller's cloud identity this permission; the launch is tried again";
    case base::ErrorKind::Invalid:
      return "Correct " + node_class.kind + " " + node_class.name + " or NodePool " +
             claim.meta.label(model::kNodePoolLabel) + "; the launch is tried again";
    default:
      return "The launch is tried again";
  }
}

}  // namespace

std::string shortened(std::string_view message) {
  std::string text = cloud::lasting_text(message);
  if (text.size() > kMessageLimit) {
    text.resize(kMessageLimit);
    text += "...";
  }
  return text;
}

void LaunchFailures::tell(const model::NodeClaim& claim, const base::Error& error) {
  services_.events.record(
      {.object = kube::reference_to(model::kNodeClaimResource, claim.meta),
       .warning = true,
       .reason = reason_of(error),
       .message = "NodeClaim " + claim.meta.name + " event: " + shortened(error.message),
       .dedupe_values = {}});
  tell_pods(claim, error);
}

bool LaunchFailures::take_turn(const std::string& pod_uid, base::ErrorKind kind) {
  const base::TimePoint now = services_.loop.now();
  std::erase_if(told_, [now](const auto& item) { return now - item.second >= kTellPodAgain; });
  if (told_.contains({pod_uid, kind}) || !pods_.take(now)) {
    return false;
  }
  told_.emplace(std::pair(pod_uid, kind), now);
  return true;
}

void LaunchFailures::tell_pods(const model::NodeClaim& claim, const base::Error& error) {
  const auto ledger = services_.ledger.view();
  const auto reserved = ledger->by_target.find(claim.meta.name);
  if (reserved == ledger->by_target.end()) {
    return;
  }
  const std::string message =
      "NodeClaim " + claim.meta.name +
      ", planned for this pod, cannot be launched: " + shortened(error.message) + ". " +
      remedy_for(error, claim);
  const auto snapshot = services_.state.snapshot();
  for (const auto& reservation : reserved->second) {
    const auto* demand = scheduling::find_demand(snapshot->demand, reservation.group);
    auto left = static_cast<std::size_t>(reservation.count);
    for (std::size_t i = 0; demand != nullptr && i < demand->waiting.size() && left > 0; ++i) {
      const auto& pod = demand->waiting[i];
      --left;
      if (!take_turn(pod->meta.uid, error.kind)) {
        continue;
      }
      // Each attempt has a claim of its own, so the message is no sign of news; the kind is.
      services_.events.record({.object = kube::reference_to(model::kPodResource, pod->meta),
                               .warning = true,
                               .reason = reason_of(error),
                               .message = message,
                               .dedupe_values = {std::string(base::to_string(error.kind))},
                               .dedupe_for = kTellPodAgain});
    }
  }
}

}  // namespace millwright::controllers
