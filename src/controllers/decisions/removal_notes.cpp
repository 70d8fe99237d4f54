// What disruption comes to: nodes that go, and why the others stay.

#include "controllers/decisions/decision_notes.hpp"
#include "controllers/disruption/disruption_reports.hpp"
#include "millwright/telemetry/decision_log.hpp"
#include "millwright/telemetry/node_costs.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace millwright::controllers {
namespace {

using telemetry::Decision;
using telemetry::DecisionKind;
using telemetry::DecisionSubject;

constexpr std::size_t kMovedPodsNamed = 500;

void add_subjects(std::vector<DecisionSubject>& about, const scheduling::NodeRecord& record) {
  about.push_back({.kind = "NodeClaim", .namespace_ = {}, .name = record.claim_name()});
  if (record.node) {
    about.push_back({.kind = "Node", .namespace_ = {}, .name = record.node->meta.name});
  }
}

// Empty when they are of several.
std::string common_pool(const std::vector<scheduling::NodeRecordPtr>& records) {
  const bool one = std::all_of(records.begin(), records.end(), [&](const auto& record) {
    return record->node_pool() == records.front()->node_pool();
  });
  return one && !records.empty() ? records.front()->node_pool() : std::string();
}

// By NodePool, each as much as its nodes cost of all; evenly where no price is known.
void count_saved(Services& services, const disruption::Command& command,
                 const std::vector<scheduling::NodeRecordPtr>& records,
                 const std::vector<double>& prices) {
  double total = 0;
  for (const double price : prices) {
    total += price;
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double share = total > 0 ? prices[i] / total : 1.0 / static_cast<double>(records.size());
    services.metrics.count(
        "millwright_cost_saved_per_hour_total",
        "Price per hour that removals save, replacements taken off.",
        {{"nodepool", records[i]->node_pool()}, {"reason", metric_reason(command.reason)}},
        std::max(0.0, command.savings * share));
  }
}

void add_pods(Decision& decision, const disruption::Command& command,
              const std::vector<scheduling::NodeRecordPtr>& records) {
  std::map<std::string_view, std::string_view> targets;
  for (const auto& placement : command.placements) {
    if (const auto* name = std::get_if<std::string>(&placement.target)) {
      targets.emplace(placement.pod_uid, *name);
    }
  }
  for (const auto& record : records) {
    for (const auto& pod : record->pods) {
      if (decision.pods.size() == kMovedPodsNamed || !scheduling::is_reschedulable(*pod)) {
        continue;
      }
      decision.pods.push_back(model::key_of(pod->meta).to_string());
      if (const auto target = targets.find(pod->meta.uid); target != targets.end()) {
        decision.targets.emplace(decision.pods.back(), target->second);
      }
    }
  }
}

std::string why_not_kept(disruption::Reason reason) {
  switch (reason) {
    case disruption::Reason::Empty:
      return "nothing runs there that would have to move";
    case disruption::Reason::Drifted:
      return "not as its NodePool or NodeClass asks any more";
    case disruption::Reason::Underutilized:
      return "its pods have a cheaper place";
  }
  return {};
}

}  // namespace

void note_kept(Services& services, const disruption::Input& input,
               const disruption::Decisions& decisions, const std::string& inputs) {
  if (services.decisions == nullptr) {
    return;
  }
  std::vector<telemetry::DecisionLog::Standing> standing;
  standing.reserve(decisions.blocked.size());
  for (const auto& blocked : decisions.blocked) {
    standing.push_back({.subject = blocked.claim,
                        .cause = to_string(blocked.why.cause),
                        .message = blocked.why.message});
  }
  std::vector<scheduling::NodeRecordPtr> asked;  // outlive `costs`
  telemetry::NodeCosts costs(input.catalog);
  services.decisions->stand(DecisionKind::Kept, standing, [&](std::size_t i) {
    const auto& blocked = decisions.blocked[i];
    Decision decision{.kind = DecisionKind::Kept,
                      .inputs = inputs,
                      .cause = std::string(to_string(blocked.why.cause)),
                      .message = blocked.why.message,
                      .remedy = std::string(remedy_of(blocked.why.cause))};
    const auto record = services.state.find_claim(blocked.claim);
    if (!record) {
      decision.about = {{.kind = "NodeClaim", .namespace_ = {}, .name = blocked.claim}};
      return decision;
    }
    asked.push_back(record);
    add_subjects(decision.about, *record);
    decision.node_pool = record->node_pool();
    decision.price = costs.price_of(*record);
    const auto pool = find_pool(*input.snapshot, record->node_pool());
    if (pool && record->claim && blocked.why.cause == disruption::Cause::WithinConsolidateAfter) {
      decision.look_again = disruption::consolidatable(*record->claim, *pool, input.now).next;
    }
    return decision;
  });
}

void note_removal(Services& services, const disruption::Command& command,
                  const std::vector<scheduling::NodeRecordPtr>& records) {
  const auto catalog = catalog_of(services, *services.state.snapshot());
  telemetry::NodeCosts costs(catalog);
  std::vector<double> prices;
  double total = 0;
  for (const auto& record : records) {
    prices.push_back(costs.price_of(*record).value_or(0));
    total += prices.back();
  }
  count_saved(services, command, records, prices);
  if (services.decisions == nullptr) {
    return;
  }
  Decision decision{.kind = DecisionKind::Removal,
                    .trace = command.id,
                    .inputs = command.inputs,
                    .node_pool = common_pool(records),
                    .cause = std::string(to_string(command.reason)),
                    .message = command.summary,
                    .price = total,
                    .saved = command.savings};
  for (const auto& record : records) {
    add_subjects(decision.about, *record);
  }
  decision.alternatives.push_back(
      {.what = "keep", .why_not = why_not_kept(command.reason), .price = total});
  add_pods(decision, command, records);
  services.decisions->record(std::move(decision));
}

void note_taken_back(Services& services, const disruption::Command& command,
                     const std::string& why) {
  if (services.decisions == nullptr) {
    return;
  }
  Decision decision{.kind = DecisionKind::TakenBack,
                    .trace = command.id,
                    .inputs = command.inputs,
                    .cause = std::string(to_string(command.reason)),
                    .message = "Not done after all, since " + why + ": " + command.summary,
                    .saved = command.savings};
  for (const auto& claim : command.claims) {
    if (const auto record = services.state.find_claim(claim)) {
      add_subjects(decision.about, *record);
      decision.node_pool = record->node_pool();
    }
  }
  services.decisions->record(std::move(decision));
}

void note_deletion(Services& services, const model::NodeClaim& claim, const std::string& reason) {
  using disruption::Reason;
  for (const auto of_command : {Reason::Empty, Reason::Drifted, Reason::Underutilized}) {
    if (reason == metric_reason(of_command)) {
      return;
    }
  }
  if (services.decisions == nullptr) {
    return;
  }
  Decision decision{.kind = DecisionKind::Removal,
                    .about = {{.kind = "NodeClaim", .namespace_ = {}, .name = claim.meta.name}},
                    .node_pool = claim.meta.label(model::kNodePoolLabel),
                    .cause = reason,
                    .message = "NodeClaim " + claim.meta.name + " was deleted: " + reason};
  if (!claim.node_name.empty()) {
    decision.about.push_back({.kind = "Node", .namespace_ = {}, .name = claim.node_name});
  }
  services.decisions->record(std::move(decision));
}

}  // namespace millwright::controllers
