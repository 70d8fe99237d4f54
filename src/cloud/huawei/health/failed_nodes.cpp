#include "cloud/huawei/health/failed_nodes.hpp"

#include "cloud/huawei/launch/node_body.hpp"

#include <set>

namespace millwright::cloud::huawei {
namespace {

constexpr std::string_view kError = "Error";
constexpr std::string_view kAbnormal = "Abnormal";
constexpr std::string_view kActive = "Active";

}  // namespace

base::Task<void> FailedNodes::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    co_await look();
    co_await base::sleep(parts_.loop, kLookPeriod, stop);
  }
}

base::Task<void> FailedNodes::look() {
  auto listed = co_await parts_.nodes.list();
  if (!listed) {
    parts_.log.warn("CCE's nodes could not be looked at", {{"error", listed.error().message}});
    co_return;
  }
  forget_others(*listed);
  for (const auto& node : *listed) {
    if (!has_failed(node)) {
      continue;
    }
    auto reason = faults_[node.uid].reason;
    if (reason.empty()) {
      reason = co_await reason_of(node);
      faults_[node.uid].reason = reason;
      parts_.log.warn(reason, {{"node", node.uid}, {"NodeClaim", node.tag(kClaimTag)}});
      parts_.unavailable.mark(node.flavor, node.zone, node.capacity_type(), parts_.loop.now());
      parts_.restock.marked();
    }
    co_await tell(node, std::move(reason));
  }
}

void FailedNodes::came_up(const std::string& uid) {
  const auto now = parts_.loop.now();
  if (up_.try_emplace(uid, now).second) {
    // By then the others are too old to be judged.
    std::erase_if(up_, [now](const auto& each) { return now - each.second >= kMadeWithin; });
  }
}

bool FailedNodes::has_failed(const CceNode& node) {
  if (node.phase == kActive) {
    came_up(node.uid);
  }
  const bool is_bad = node.phase == kError || node.phase == kAbnormal;
  if (!is_bad || node.tag(kClaimUidTag).empty() || up_.contains(node.uid)) {
    faults_.erase(node.uid);
    return false;
  }
  const auto now = parts_.loop.now();
  const auto since = faults_.try_emplace(node.uid, Fault{now}).first->second.since;
  const bool is_young = node.created_at && now - *node.created_at < kMadeWithin;
  return is_young && (node.phase == kError || now - since >= kAbnormalFor);
}

void FailedNodes::forget_others(const std::vector<CceNode>& nodes) {
  std::set<std::string, std::less<>> there;
  for (const auto& node : nodes) {
    there.insert(node.uid);
  }
  std::erase_if(faults_, [&there](const auto& each) { return !there.contains(each.first); });
}

// In CCE's words, if it has any.
base::Task<std::string> FailedNodes::reason_of(CceNode node) {
  std::string reason = "CCE could not make the node (phase " + node.phase + ", flavor " +
                       node.flavor + ", zone " + node.zone + ")";
  if (!node.job.empty()) {
    auto said = co_await parts_.nodes.job_failure(node.job);
    if (!said) {
      parts_.log.warn("why CCE could not make a node could not be read",
                      {{"node", node.uid}, {"error", said.error().message}});
    } else if (!said->empty()) {
      co_return reason + ": " + *said;
    }
  }
  co_return reason + "; its events in CCE's console say why";
}

base::Task<void> FailedNodes::tell(CceNode node, std::string reason) {
  if (!handler_) {
    co_return;
  }
  InstanceNotice notice{.provider_id = node.uid,
                        .kind = "node_not_made",
                        .reason = "NodeNotMade",
                        .message = std::move(reason),
                        .action = InstanceNotice::Action::Drain};
  const auto told = co_await handler_(std::move(notice));
  if (!told) {
    parts_.log.warn("a node that CCE could not make was not given up yet",
                    {{"node", node.uid}, {"error", told.error().message}});
  }
}

}  // namespace millwright::cloud::huawei
