// Preemption: what the scheduler does for a pod that fits nowhere and has a higher priority than
// pods that run.
#include "millwright/model/codec.hpp"
#include "sandbox/scheduler/filters.hpp"
#include "sandbox/scheduler/scheduler.hpp"
#include "sandbox/workloads/events.hpp"
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

std::vector<model::PodDisruptionBudget> budgets_of(const Store& store) {
  std::vector<model::PodDisruptionBudget> budgets;
  for (const auto& [key, object] : store.objects(info_of(model::kPodDisruptionBudgetResource))) {
    if (auto decoded = model::decode<model::PodDisruptionBudget>(*object)) {
      budgets.push_back(*std::move(decoded));
    }
  }
  return budgets;
}

}  // namespace

base::Task<std::string> Scheduler::preempt(PodPtr pod, std::string pod_json,
                                           std::set<std::string> hopeless) {
  std::string node;
  if (pod->spec.preemption_policy == "Never") {
    co_return node;
  }
  // Victims of an earlier attempt are still ending: wait for them.
  if (const auto* nominated = cache_.find(pod->status.nominated_node_name)) {
    for (const auto& [uid, other] : nominated->pods) {
      if (other->meta.is_deleting() && other->spec.priority < pod->spec.priority) {
        co_return nominated->node->meta.name;
      }
    }
  }
  const auto all = cache_.nodes();
  std::vector<const NodeInfo*> may_help;
  for (const auto* info : all) {
    if (!hopeless.contains(info->node->meta.name) && fixed_reasons(*pod, *info->node).empty()) {
      may_help.push_back(info);
    }
  }
  auto candidates = find_victims(*pod, all, may_help, budgets_of(context_.store()));
  if (!candidates.empty() && extender_ != nullptr) {
    candidates = co_await ask_preempt(std::move(pod_json), std::move(candidates));
  }
  node = pick_node(candidates);
  if (!node.empty()) {
    end_victims(*pod, node, candidates.at(node).pods);
  }
  co_return node;
}

void Scheduler::end_victims(const model::Pod& pod, const std::string& node,
                            const std::vector<PodPtr>& victims) {
  const auto now = context_.registry.now_text();
  for (const auto& victim : victims) {
    const auto key = model::key_of(victim->meta);
    const auto* entry = context_.index.pod(key);
    if (entry == nullptr || entry->pod->meta.uid != victim->meta.uid) {
      continue;
    }
    const auto object = entry->object;
    edit(context_, model::kPodResource, key, Part::Status, [&](Json& json) {
      set_condition(
          json, "DisruptionTarget", "True", "PreemptionByScheduler",
          fmt::format("{}: preempting to accommodate a higher priority pod", options_.name), now);
    });
    remove(context_, model::kPodResource, key);
    context_.events.write(*object, options_.name, "Normal", "Preempted",
                          fmt::format("Preempted by pod {} on node {}", pod.meta.uid, node));
  }
}

}  // namespace millwright::sandbox
