// What an edit of a NodePool or a NodeClass replaces: nodes that drift by it, and what those cost
// that take their place. A preview, not a promise: budgets, other edits and prices of the day
// decide.
#include "millwright/disruption/decide.hpp"
#include "millwright/scheduling/solve.hpp"
#include "webhooks/src/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
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

// Whose nodes an edit concerns, and which of them it drifts.
struct Edit {
  std::string nodes_of;  // "of the NodePool, to be replaced as its disruption budgets allow"
  std::function<bool(const model::NodeClaim&)> concerns;
  std::function<bool(const model::NodeClaim&)> drifts;
  std::shared_ptr<const model::NodePool> pool;  // as it would be; nullptr: none is edited
};

Edit edit_of(const model::NodePool& edited) {
  const auto pool = std::make_shared<const model::NodePool>(stamped(edited));
  return {.nodes_of = "of the NodePool, to be replaced as its disruption budgets allow",
          .concerns =
              [pool](const auto& claim) {
                return claim.meta.label(model::kNodePoolLabel) == pool->meta.name;
              },
          .drifts =
              [pool](const auto& claim) { return !disruption::drift_reason(claim, *pool).empty(); },
          .pool = pool};
}

Edit edit_of(const model::NodeClass& edited, model::HashStamp stamp) {
  return {
      .nodes_of = "of the NodeClass, to be replaced as the disruption budgets of NodePools allow",
      .concerns = [reference = model::reference_to(edited)](
                      const auto& claim) { return claim.node_class_ref == reference; },
      .drifts = [stamp = std::move(stamp)](
                    const auto& claim) { return model::is_stamped_otherwise(claim.meta, stamp); },
      .pool = nullptr};
}

class Replacements {
 public:
  Replacements(Edit edit, const ClusterSnapshot& view)
      : edit_(std::move(edit)), view_(view), cluster_(view.cluster()) {}

  void warn(Warnings& warnings) {
    if (cluster_ == nullptr || !cluster_->synced) {
      return;
    }
    std::size_t all = 0;
    for (const auto& record : cluster_->nodes) {
      const bool is_concerned = record->claim && edit_.concerns(*record->claim);
      all += is_concerned ? 1 : 0;
      const bool drifts = is_concerned && stays(*record) && edit_.drifts(*record->claim);
      (drifts ? drifting_ : others_).push_back(record);
    }
    if (drifting_.empty()) {
      return;
    }
    warnings.add("this drifts " + std::to_string(drifting_.size()) + " of " + std::to_string(all) +
                 (all == 1 ? " node " : " nodes ") + edit_.nodes_of + cost());
  }

 private:
  // ", about +312 $/month", and how many pods are left without a place; empty: not known.
  std::string cost() {
    if (!fill_problem()) {
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

  // The cluster without the nodes that drift, and their pods to be placed. False: too many, their
  // pools have a fixed size, or it is not known what can be bought.
  bool fill_problem() {
    std::copy_if(
        others_.begin(), others_.end(), std::back_inserter(problem_.nodes),
        [](const auto& record) { return !record->marked_for_deletion && !record->fenced; });
    problem_.counted_nodes = others_;
    std::set<std::string> replacing;
    for (const auto& record : drifting_) {
      replacing.insert(record->node_pool());
      std::copy_if(record->pods.begin(), record->pods.end(), std::back_inserter(problem_.pods),
                   [](const auto& pod) { return scheduling::is_reschedulable(*pod); });
    }
    for (const auto& pool : cluster_->node_pools) {
      const bool is_edited = edit_.pool != nullptr && pool->meta.name == edit_.pool->meta.name;
      const auto& offered = is_edited ? edit_.pool : pool;
      const auto types = view_.instance_types(offered->template_.node_class_ref);
      if (replacing.contains(pool->meta.name) && (types == nullptr || offered->replicas)) {
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

  const Edit edit_;
  const ClusterSnapshot& view_;
  scheduling::SnapshotPtr cluster_;
  std::vector<NodeRecordPtr> drifting_;
  std::vector<NodeRecordPtr> others_;
  scheduling::Problem problem_;
};

bool may_preview(const ClusterSnapshot& cluster) {
  return cluster.cluster && cluster.instance_types && cluster.may_preview && cluster.may_preview();
}

}  // namespace

void warn_of_replacements(const model::NodePool& edited, const ClusterSnapshot& cluster,
                          Warnings& warnings) {
  if (is_of_usual_size(edited) && may_preview(cluster)) {
    Replacements(edit_of(edited), cluster).warn(warnings);
  }
}

void warn_of_replacements(const model::NodeClass& edited, const ClusterSnapshot& cluster,
                          Warnings& warnings) {
  if (!cluster.hash_of || !may_preview(cluster)) {
    return;
  }
  if (auto stamp = cluster.hash_of(edited)) {
    Replacements(edit_of(edited, *std::move(stamp)), cluster).warn(warnings);
  }
}

}  // namespace millwright::webhooks
