#include "controllers/disruption/disruption_reports.hpp"

#include "millwright/telemetry/chronicle.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

namespace millwright::controllers {
namespace {

constexpr auto kSayBlocked = std::chrono::minutes(15);
constexpr auto kSaySpent = std::chrono::minutes(1);
constexpr std::size_t kShownValue = 40;  // of an annotation that may be of any length
const std::vector<double> kScoreBuckets{0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10};  // Karpenter's

kube::Event event_about(kube::ObjectReference object, std::string reason, std::string message) {
  return {.object = std::move(object),
          .warning = false,
          .reason = std::move(reason),
          .message = std::move(message),
          .dedupe_values = {}};
}

kube::ObjectReference claim_of(const scheduling::NodeRecord& record) {
  return kube::reference_to(model::kNodeClaimResource, record.claim->meta);
}

// Each Node and NodeClaim of a consolidation. Nothing for other commands: of empty nodes there may
// be hundreds, and DisruptionTerminating says it all.
void tell_nodes(Services& services, const disruption::Command& command, const std::string& reason,
                const std::string& message) {
  if (command.reason != disruption::Reason::Underutilized) {
    return;
  }
  for (const auto& claim : command.claims) {
    if (const auto record = services.state.find_claim(claim)) {
      services.events.record(event_about(claim_of(*record), reason, message));
      if (record->node) {
        services.events.record(event_about(
            kube::reference_to(model::kNodeResource, record->node->meta), reason, message));
      }
    }
  }
}

std::string describe(const disruption::Score& score) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(),
                "The part of the cost that is saved is %.2f of the part of the pods that is "
                "disturbed, and %.2f is enough: ",
                score.value, disruption::kApprovedScore);
  return text.data();
}

base::MetricLabels decision_labels(const disruption::Command& command) {
  return {{"decision", command.replacements.empty() ? "delete" : "replace"},
          {"reason", metric_reason(command.reason)},
          {"consolidation_type", std::string(consolidation_type(command))}};
}

}  // namespace

std::string metric_reason(disruption::Reason reason) {
  std::string lower(to_string(reason));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::function<void(disruption::Reason, std::string_view)> evaluation_timer(Services& services) {
  return [&loop = services.loop, &metrics = services.metrics, begun = services.loop.now()](
             disruption::Reason reason, std::string_view type) mutable {
    const base::TimePoint now = loop.now();
    const std::chrono::duration<double> took = now - std::exchange(begun, now);
    metrics.observe("karpenter_voluntary_disruption_decision_evaluation_duration_seconds",
                    "How long it took to look for nodes that may go, by method.",
                    {{"reason", metric_reason(reason)}, {"consolidation_type", std::string(type)}},
                    took.count());
  };
}

void note_eligible(Services& services, const disruption::Decisions& decisions) {
  using disruption::Reason;
  for (const auto reason : {Reason::Empty, Reason::Drifted, Reason::Underutilized}) {
    services.chronicle.eligible(metric_reason(reason),
                                decisions.eligible[static_cast<std::size_t>(reason)]);
  }
}

void count_no_timeouts(Services& services) {
  for (const auto* type : {"multi", "single"}) {
    services.metrics.count("karpenter_voluntary_disruption_consolidation_timeouts_total",
                           "Times that looking for nodes to consolidate was cut short.",
                           {{"consolidation_type", type}}, 0);
  }
}

void note_invalid(Services& services, const disruption::Command& command) {
  services.metrics.count("karpenter_voluntary_disruption_failed_validations_total",
                         "Nodes whose removal no longer held when it was looked at again.",
                         {{"consolidation_type", std::string(consolidation_type(command))}},
                         static_cast<double>(command.claims.size()));
  tell_nodes(services, command, "ConsolidationRejected",
             "It does not hold any more: pods, nodes, prices or budgets have changed since this "
             "was decided: " +
                 command.summary);
}

void count_decision(Services& services, const disruption::Command& command,
                    const std::vector<scheduling::NodeRecordPtr>& nodes) {
  auto labels = decision_labels(command);
  services.metrics.count("karpenter_voluntary_disruption_decisions_total",
                         "Disruption commands that were begun.", labels);
  std::set<std::string> pools;
  for (const auto& record : nodes) {
    pools.insert(record->node_pool());
  }
  for (const auto& pool : pools) {
    labels["nodepool"] = pool;
    services.metrics.count("karpenter_voluntary_disruption_decisions_by_nodepool_total",
                           "Disruption commands that were begun, by each NodePool concerned.",
                           labels);
  }
}

void count_taken_back(Services& services, const disruption::Command& command) {
  services.metrics.count("karpenter_voluntary_disruption_queue_failures_total",
                         "Disruption commands that were begun and taken back.",
                         decision_labels(command));
}

void count_scores(Services& services, const std::vector<disruption::Score>& scores) {
  for (const auto& score : scores) {
    const base::MetricLabels labels{{"decision", score.approved ? "approved" : "rejected"},
                                    {"nodepool", score.node_pool},
                                    {"policy", "Balanced"}};
    services.metrics.count("karpenter_consolidation_moves_total",
                           "Moves that a consolidation policy judged.", labels);
    services.metrics.observe("karpenter_consolidation_score",
                             "Share of cost saved by share of pods disturbed.", labels, score.value,
                             kScoreBuckets);
  }
}

void tell_blocked(Services& services, const scheduling::NodeRecord& record,
                  const disruption::Blocked& blocked) {
  const bool consolidation = blocked.kept == disruption::Kept::FromConsolidation;
  auto event =
      event_about(claim_of(record), consolidation ? "Unconsolidatable" : "DisruptionBlocked",
                  blocked.why.message);
  event.dedupe_for = kSayBlocked;
  services.events.record(event);
  if (record.node) {
    event.object = kube::reference_to(model::kNodeResource, record.node->meta);
    services.events.record(std::move(event));
  }
}

void tell_protection(Services& services, const disruption::ProtectedPod& protected_pod) {
  using disruption::Protection;
  const auto& meta = protected_pod.pod->meta;
  const std::string annotation(model::kDoNotDisruptAnnotation);
  const std::string value = meta.annotation(model::kDoNotDisruptAnnotation).substr(0, kShownValue);
  const std::string until =
      protected_pod.until ? " until " + base::format_rfc3339(*protected_pod.until) : "";
  const auto object = kube::reference_to(model::kPodResource, meta);
  switch (protected_pod.protection) {
    case Protection::Unreadable: {
      auto event = event_about(object, "InvalidDoNotDisruptAnnotation",
                               "The value \"" + value + "\" of the annotation " + annotation +
                                   " protects nothing: give it \"true\", or a duration such as "
                                   "\"1h30m\"");
      event.warning = true;
      services.events.record(std::move(event));
      return;
    }
    case Protection::Lasts:
      services.events.record(
          event_about(object, "DoNotDisruptUntil",
                      "The annotation " + annotation + " (" + value + ") keeps its node" + until));
      return;
    case Protection::Over:
      services.events.record(event_about(
          object, "DoNotDisruptGracePeriodElapsed",
          "The annotation " + annotation + " (" + value + ") has kept its node" + until));
      return;
  }
}

void tell_spent_budgets(Services& services, const std::vector<disruption::SpentBudget>& budgets) {
  const auto snapshot = services.state.snapshot();
  for (const auto& budget : budgets) {
    if (const auto pool = find_pool(*snapshot, budget.node_pool)) {
      auto event =
          event_about(kube::reference_to(model::kNodePoolResource, pool->meta), "DisruptionBlocked",
                      "spec.disruption.budgets allow no further " +
                          std::string(to_string(budget.reason)) + " node to go now");
      event.dedupe_for = kSaySpent;
      services.events.record(std::move(event));
    }
  }
}

void tell_decided(Services& services, const disruption::Command& command,
                  const std::vector<disruption::Score>& scores) {
  tell_nodes(services, command, "ConsolidationCandidate", command.summary);
  constexpr std::string_view kApproved = "ConsolidationApproved";
  for (const auto& score : scores) {
    if (!score.approved || score.claims != command.claims) {
      continue;
    }
    const std::string message = describe(score) + command.summary;
    if (command.claims.size() == 1) {
      tell_nodes(services, command, std::string(kApproved), message);
    } else if (const auto pool = find_pool(*services.state.snapshot(), score.node_pool)) {
      services.events.record(event_about(kube::reference_to(model::kNodePoolResource, pool->meta),
                                         std::string(kApproved), message));
    }
  }
}

void tell_launching(Services& services, const model::NodeClaim& replacement,
                    disruption::Reason reason) {
  services.events.record(
      event_about(kube::reference_to(model::kNodeClaimResource, replacement.meta),
                  "DisruptionLaunching", "Launching NodeClaim: " + std::string(to_string(reason))));
}

void tell_waiting(Services& services, const scheduling::NodeRecord& replacement) {
  services.events.record(event_about(claim_of(replacement), "DisruptionWaitingReadiness",
                                     "Waiting on readiness to continue disruption"));
}

void tell_terminating(Services& services, const scheduling::NodeRecord& record,
                      const std::string& reason) {
  services.events.record(
      event_about(claim_of(record), "DisruptionTerminating", "Disrupting NodeClaim: " + reason));
  if (record.node) {
    services.events.record(event_about(kube::reference_to(model::kNodeResource, record.node->meta),
                                       "DisruptionTerminating", "Disrupting Node: " + reason));
  }
}

}  // namespace millwright::controllers
