// What an edit of a NodePool replaces: nodes that drift by it, and what those cost that take their
// place. A preview, not a promise: budgets, other edits and prices of the day decide.
#include "millwright/disruption/decide.hpp"
#include "millwright/scheduling/solve.hpp"
#include "webhooks/src/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millwright::webhooks {
namespace {

using scheduling::NodeRecordPtr;

constexpr double kHoursPerMonth = 730;
// kube-scheduler may wait for this thread while they are planned.
constexpr std::size_t kMostPods = 2'000;

// Whoever sends reviews may send requirements of any length, and each node is held against them.
constexpr std::size_t kMostRequirements = 100;
constexpr std::size_t kMostValues = 1'000;

bool is_of_usual_size(const model::NodePool& pool) {
  std::size_t values = 0;
  for (const auto& requirement : pool.template_.requirements) {
    values += requirement.values.size();
  }
  return pool.template_.requirements.size() <= kMostRequirements && values <= kMostValues;
}

// Nothing tells that it is to be replaced yet.
bool stays(const scheduling::NodeRecord& record) {
  return !record.marked_for_deletion && !model::is_true(record.claim->conditions, model::kDrifted);
}

model::NodePool stamped(model::NodePool pool) {
  pool.meta.annotations[std::string(model::kNodePoolHashAnnotation)] =
      model::nodepool_hash(pool.template_);
  pool.meta.annotations[std::string(model::kNodePoolHashVersionAnnotation)] =
      model::kNodePoolHashVersion;
  return pool;
}

class Replacements {
 public:
  Replacements(const model::NodePool& edited, const ClusterSnapshot& view)
      : pool_(std::make_shared<const model::NodePool>(stamped(edited))),
        view_(view),
        cluster_(view.cluster()) {}

  void warn(Warnings& warnings) {
    if (cluster_ == nullptr || !cluster_->synced) {
      return;
    }
    std::size_t all = 0;
    for (const auto& record : cluster_->nodes) {
      const bool is_of_pool = record->claim && record->node_pool() == pool_->meta.name;
      all += is_of_pool ? 1 : 0;
      const bool drifts =
          is_of_pool && stays(*record) && !disruption::drift_reason(*record->claim, *pool_).empty();
      (drifts ? drifting_ : others_).push_back(record);
    }
    if (drifting_.empty()) {
      return;
    }
    warnings.add("this drifts " + std::to_string(drifting_.size()) + " of " + std::to_string(all) +
                 (all == 1 ? " node" : " nodes") +
                 " of the NodePool, to be replaced as its disruption budgets allow" + cost());
  }

 private:
  // ", about +312 $/month", and how many pods are left without a place; empty: not known.
  std::string cost() {
    if (pool_->replicas || !fill_problem()) {
      return "";
    }
    const auto before = price_now();
    if (!before) {
      return "";
    }
    const auto plan = scheduling::solve(problem_);
    double after = 0;
    for (const auto& claim : plan.claims) {
      after += claim.price;
    }
    const long more = std::lround((after - *before) * kHoursPerMonth);
    std::string text = more == 0 ? std::string("; the price stays about the same")
                                 : "; about " + std::string(more > 0 ? "+" : "-") +
                                       std::to_string(std::labs(more)) + " $/month";
    if (!plan.refusals.empty()) {
      text += "; " + std::to_string(plan.refusals.size()) + " of their pods would have no place";
    }
    return text;
  }

  // Nodes are of few kinds, and looking a price up is slow.
  std::optional<double> price_now() const {
    std::map<std::pair<model::NodeClassReference, model::StringMap>, std::optional<double>> known;
    double sum = 0;
    for (const auto& record : drifting_) {
      const auto& claim = *record->claim;
      model::StringMap kind;
      for (const auto label :
           {model::kInstanceTypeLabel, model::kZoneLabel, model::kCapacityTypeLabel}) {
        kind.emplace(label, claim.meta.label(label));
      }
      const auto [entry, added] = known.try_emplace({claim.node_class_ref, std::move(kind)});
      const auto types =
          added ? view_.instance_types(claim.node_class_ref) : scheduling::InstanceTypes();
      if (types != nullptr) {
        entry->second = scheduling::price_of(types, claim.meta.labels);
      }
      if (!entry->second) {
        return std::nullopt;
      }
      sum += *entry->second;
    }
    return sum;
  }

  // The cluster without the nodes that drift, and their pods to be placed. False: too many, or it
  // is not known what can be bought.
  bool fill_problem() {
    std::copy_if(
        others_.begin(), others_.end(), std::back_inserter(problem_.nodes),
        [](const auto& record) { return !record->marked_for_deletion && !record->fenced; });
    problem_.counted_nodes = others_;
    for (const auto& record : drifting_) {
      std::copy_if(record->pods.begin(), record->pods.end(), std::back_inserter(problem_.pods),
                   [](const auto& pod) { return scheduling::is_reschedulable(*pod); });
    }
    for (const auto& pool : cluster_->node_pools) {
      const bool is_edited = pool->meta.name == pool_->meta.name;
      const auto& offered = is_edited ? pool_ : pool;
      const auto types = view_.instance_types(offered->template_.node_class_ref);
      if (types == nullptr && is_edited) {
        return false;
      }
      if (types != nullptr) {
        problem_.pools.push_back({offered, types});
      }
    }
    problem_.daemon_sets = cluster_->daemon_sets;
    problem_.cluster = cluster_;
    return problem_.pods.size() <= kMostPods;
  }

  std::shared_ptr<const model::NodePool> pool_;
  const ClusterSnapshot& view_;
  scheduling::SnapshotPtr cluster_;
  std::vector<NodeRecordPtr> drifting_;
  std::vector<NodeRecordPtr> others_;
  scheduling::Problem problem_;
};

}  // namespace

void warn_of_replacements(const model::NodePool& edited, const ClusterSnapshot& cluster,
                          Warnings& warnings) {
  if (cluster.cluster && cluster.instance_types && is_of_usual_size(edited) &&
      cluster.may_preview && cluster.may_preview()) {
    Replacements(edited, cluster).warn(warnings);
  }
}

}  // namespace millwright::webhooks
