#include "app/whatif/counterfactual.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace millwright::app {
namespace {

using scheduling::Change;
using scheduling::Problem;

void tolerate(model::Pod& pod, const model::Taint& taint) {
  pod.spec.tolerations.push_back({.key = taint.key,
                                  .op = "Equal",
                                  .value = taint.value,
                                  .effect = taint.effect,
                                  .toleration_seconds = std::nullopt});
}

void lower(model::ResourceList& requests, const std::string& resource, double factor) {
  const auto found = requests.find(resource);
  if (found == requests.end()) {
    return;
  }
  const auto less = static_cast<std::int64_t>(static_cast<double>(found->second.milli()) * factor);
  if (less <= 0) {
    requests.erase(found);
  } else {
    found->second = model::Quantity::from_milli(less);
  }
}

// Every container by the same part. Memory and the like stay whole units.
void lower_requests(model::Pod& pod, const std::string& resource, model::Quantity most) {
  const auto asked = model::get(scheduling::effective_requests(pod), resource);
  if (asked.milli() <= 0) {
    return;
  }
  const double factor = static_cast<double>(most.milli()) / static_cast<double>(asked.milli());
  for (auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (auto& container : *containers) {
      lower(container.requests, resource, factor);
    }
  }
  lower(pod.spec.pod_requests, resource, factor);
}

void allow(model::NodePool& pool, const std::string& key, const std::string& value) {
  auto& requirements = pool.template_.requirements;
  for (auto& requirement : requirements) {
    if (requirement.key == key && requirement.op == model::Operator::In) {
      requirement.values.push_back(value);
    }
  }
  std::erase_if(requirements, [&](const model::SelectorRequirement& requirement) {
    return requirement.key == key && requirement.op != model::Operator::In;
  });
}

std::shared_ptr<model::NodePool> own_copy(Problem& problem, const std::string& name) {
  const auto found =
      std::find_if(problem.pools.begin(), problem.pools.end(),
                   [&](const auto& option) { return option.pool->meta.name == name; });
  if (found == problem.pools.end()) {
    return nullptr;
  }
  auto copy = std::make_shared<model::NodePool>(*found->pool);
  found->pool = copy;
  return copy;
}

bool amend(Problem& problem, const Change& change) {
  if (change.kind == Change::Kind::Tolerate || change.kind == Change::Kind::LowerRequest) {
    for (auto& pod : problem.pods) {
      auto copy = std::make_shared<model::Pod>(*pod);
      if (change.kind == Change::Kind::Tolerate) {
        tolerate(*copy, change.taint);
      } else {
        lower_requests(*copy, change.key, change.amount);
      }
      pod = std::move(copy);
    }
    return true;
  }
  const auto pool = own_copy(problem, change.node_pool);
  if (pool == nullptr) {
    return false;
  }
  if (change.kind == Change::Kind::RaiseLimit) {
    auto limits = pool->limits.value_or(model::ResourceList());
    limits[change.key] = change.amount;
    pool->limits = std::move(limits);
  } else {
    allow(*pool, change.key, change.value);
  }
  return true;
}

std::string place_in(const scheduling::Plan& plan) {
  const auto& target = plan.placements.front().target;
  if (const auto* node = std::get_if<std::string>(&target)) {
    return "node " + *node;
  }
  const auto& claim = plan.claims[std::get<std::size_t>(target)];
  return fmt::format("a new {} for ${:.4g}/h",
                     claim.instance_types.empty() ? "machine" : claim.instance_types.front(),
                     claim.price);
}

}  // namespace

std::optional<Problem> amended(Problem problem, const std::vector<Change>& changes) {
  for (const auto& change : changes) {
    if (!amend(problem, change)) {
      return std::nullopt;
    }
  }
  return problem;
}

Refused explain_waiting(Problem problem, const scheduling::PodPtr& pod) {
  problem.pods = {pod};
  const auto plan = scheduling::solve(problem);
  if (plan.refusals.empty()) {
    return {};
  }
  const auto& refusal = plan.refusals.front();
  Refused refused{.reason = refusal.reason, .remedy = {}, .then = {}};
  const auto changed =
      refusal.changes.empty() ? std::nullopt : amended(std::move(problem), refusal.changes);
  if (changed) {
    const auto better = scheduling::solve(*changed);
    if (better.refusals.empty() && !better.placements.empty()) {
      refused.remedy = refusal.remedy;
      refused.then = place_in(better);
    }
  }
  return refused;
}

}  // namespace millwright::app
