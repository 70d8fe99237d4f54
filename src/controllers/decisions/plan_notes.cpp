// What plans come to: purchases, refusals, and why not another machine.

#include "controllers/decisions/decision_notes.hpp"
#include "controllers/provisioning/planning_round.hpp"
#include "millwright/base/money.hpp"
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/telemetry/decision_log.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace millwright::controllers {
namespace {

using telemetry::Alternative;
using telemetry::Decision;
using telemetry::DecisionKind;

constexpr std::size_t kNamedOptions = 3;
constexpr std::size_t kNamedTargets = 200;

std::string count_of(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// A pod that waits, of which a plan may be asked.
bool is_told_of(const PlanningRound& round, const std::string& uid) {
  return round.signalled.contains(uid) && !round.expected.contains(uid);
}

std::string name_of_pod(const PlanningRound& round, const std::string& uid) {
  return model::key_of(round.pods.at(uid)->meta).to_string();
}

// The first resource that the machine has too little of: "too small: cpu 1930m, 2500m are needed".
std::string too_small(const model::ResourceList& requests, const model::ResourceList& offered) {
  for (const auto& [name, amount] : requests) {
    const auto has = model::get(offered, name);
    if (has < amount) {
      return "too small: " + name + " " + has.to_string() + ", and " + amount.to_string() +
             " is needed";
    }
  }
  return {};
}

// Whether anything of it could be cheaper than `price` and dearer than `least`; a quick look.
bool may_cost_between(const scheduling::InstanceType& type, double least, double price) {
  return std::any_of(type.offerings.begin(), type.offerings.end(), [&](const auto& offering) {
    return offering.available && offering.price < price && offering.price > least;
  });
}

// The dearest machine among those that are cheaper and too small: what one would have to fit into.
std::optional<Alternative> next_smaller(const scheduling::PlannedClaim& planned,
                                        const scheduling::InstanceTypes& types) {
  scheduling::Requirements wanted = planned.requirements;
  wanted.remove(model::kInstanceTypeLabel);
  std::optional<Alternative> best;
  double least = -std::numeric_limits<double>::infinity();
  for (const auto& type : *types) {
    if (!may_cost_between(type, least, planned.price)) {
      continue;
    }
    const auto* offering = scheduling::cheapest_offering(type, wanted);
    if (offering == nullptr || offering->price >= planned.price || offering->price <= least) {
      continue;
    }
    if (auto why = too_small(planned.requests, type.allocatable()); !why.empty()) {
      least = offering->price;
      best = Alternative{.what = type.name, .why_not = std::move(why), .price = offering->price};
    }
  }
  return best;
}

std::vector<Alternative> alternatives_of(const scheduling::PlannedClaim& planned,
                                         const scheduling::InstanceTypes& types) {
  std::vector<Alternative> all;
  if (types == nullptr || planned.instance_types.empty()) {
    return all;
  }
  if (auto smaller = next_smaller(planned, types)) {
    all.push_back(*std::move(smaller));
  }
  const std::size_t end = std::min(planned.instance_types.size(), 1 + kNamedOptions);
  for (std::size_t i = 1; i < end; ++i) {
    const auto& name = planned.instance_types[i];
    const auto* type = scheduling::find_type(types, name);
    scheduling::Requirements wanted = planned.requirements;
    wanted.remove(model::kInstanceTypeLabel);
    const auto* offering = type == nullptr ? nullptr : scheduling::cheapest_offering(*type, wanted);
    if (offering != nullptr) {
      all.push_back({.what = name,
                     .why_not = "not cheaper; the cloud may take it if it is out of the first",
                     .price = offering->price});
    }
  }
  return all;
}

}  // namespace

scheduling::InstanceTypes types_of(const PlanningRound& round, std::string_view pool) {
  for (const auto& option : round.problem.pools) {
    if (option.pool->meta.name == pool) {
      return option.types;
    }
  }
  return nullptr;
}

void PlanNotes::note(Services& services, const PlanningRound& round) {
  if (services.decisions == nullptr) {
    return;
  }
  Decision decision{.kind = DecisionKind::Plan, .trace = round.trace, .inputs = round.digest};
  std::map<std::string, std::string> targets;
  bool is_news = !round.plan.claims.empty();
  for (const auto& placement : round.plan.placements) {
    const auto* target = std::get_if<std::string>(&placement.target);
    if (target == nullptr || !is_told_of(round, placement.pod_uid)) {
      continue;
    }
    const auto before = targets_.find(placement.pod_uid);
    if (before == targets_.end() || before->second != *target) {
      is_news = true;
      if (decision.targets.size() < kNamedTargets) {
        decision.targets.emplace(name_of_pod(round, placement.pod_uid), *target);
      }
    }
    targets.emplace(placement.pod_uid, *target);
  }
  targets_ = std::move(targets);
  if (!is_news) {
    return;
  }
  double price = 0;
  std::size_t on_new = 0;
  for (const auto& claim : round.plan.claims) {
    price += claim.price;
    on_new += claim.pod_uids.size();
  }
  const std::size_t postponed = scheduling::count_postponed(round.plan);
  const std::string left =
      postponed == 0 ? "" : std::to_string(postponed) + " left for the next plan, ";
  decision.message = "Plan for " + count_of(round.problem.pods.size(), "pod") + ": " +
                     std::to_string(on_new) + " on " +
                     count_of(round.plan.claims.size(), "new node") + " for " +
                     base::format_price(price) + ", " + left +
                     std::to_string(round.plan.refusals.size() - postponed) +
                     " without a place, the others on nodes that exist";
  decision.price = price;
  services.decisions->record(std::move(decision));
}

void note_refusals(Services& services, const PlanningRound& round) {
  if (services.decisions == nullptr) {
    return;
  }
  std::vector<telemetry::DecisionLog::Standing> standing;
  std::vector<const scheduling::Refusal*> refusals;
  for (const auto& refusal : round.plan.refusals) {
    if (!refusal.postponed && is_told_of(round, refusal.pod_uid)) {
      standing.push_back(
          {.subject = refusal.pod_uid, .cause = refusal.reason, .message = refusal.reason});
      refusals.push_back(&refusal);
    }
  }
  services.decisions->stand(DecisionKind::Refusal, standing, [&](std::size_t i) {
    const auto& meta = round.pods.at(refusals[i]->pod_uid)->meta;
    return Decision{.kind = DecisionKind::Refusal,
                    .trace = round.trace,
                    .inputs = round.digest,
                    .about = {{.kind = "Pod", .namespace_ = meta.namespace_, .name = meta.name}},
                    .cause = refusals[i]->reason,
                    .message = refusals[i]->reason,
                    .remedy = refusals[i]->remedy};
  });
}

void note_purchase(Services& services, const NewClaim& wanted, const model::NodeClaim& claim) {
  const auto& planned = wanted.planned;
  services.metrics.count(
      "millwright_cost_bought_per_hour_total", "Price per hour of NodeClaims created, by reason.",
      {{"nodepool", planned.node_pool}, {"reason", wanted.reason}}, planned.price);
  if (services.decisions == nullptr) {
    return;
  }
  Decision decision{.kind = DecisionKind::Purchase,
                    .trace = wanted.trace,
                    .inputs = wanted.inputs,
                    .about = {{.kind = "NodeClaim", .namespace_ = {}, .name = claim.meta.name}},
                    .node_pool = planned.node_pool,
                    .cause = wanted.reason,
                    .price = planned.price,
                    .alternatives = alternatives_of(planned, wanted.types)};
  const std::string type =
      planned.instance_types.empty() ? "machine" : planned.instance_types.front();
  decision.message = "Bought NodeClaim " + claim.meta.name + " of NodePool " + planned.node_pool +
                     " for " + count_of(wanted.pods.size(), "pod") + ": " + type + " at " +
                     base::format_price(planned.price);
  if (planned.instance_types.size() > 1) {
    decision.message += ", or another of " +
                        count_of(planned.instance_types.size(), "instance type") + " that will do";
  }
  for (const auto& pod : wanted.pods) {
    decision.pods.push_back(model::key_of(pod->meta).to_string());
  }
  services.decisions->record(std::move(decision));
}

}  // namespace millwright::controllers
