// What a run came to: nodes, pods and money, from the recorder's watch streams and the engine's
// recorded decisions.
#include "app/whatif/cluster/restoring.hpp"
#include "app/whatif/forecast_run.hpp"
#include "millwright/controllers/services.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace millwright::app {
namespace {

constexpr double kPriceSteps = 1e6;

bool counts_as_pod(const model::Pod& pod) {
  return !model::is_owned_by_daemonset(pod) && !model::is_mirror(pod);
}

std::string workload_of(const model::Pod& pod) {
  const auto* owner = pod.meta.controller();
  return owner == nullptr ? "Pod " + model::key_of(pod.meta).to_string()
                          : owner->kind + " " + pod.meta.namespace_ + "/" + owner->name;
}

std::vector<WorkloadLine> lines_of_workloads(const std::map<std::string, std::size_t>& counts) {
  std::vector<WorkloadLine> lines;
  for (const auto& [workload, pods] : counts) {
    lines.push_back({workload, pods});
  }
  return lines;
}

auto kind_of_line(const NodeLine& line) {
  return std::tie(line.node_pool, line.instance_type, line.zone, line.capacity_type, line.price);
}

}  // namespace

std::vector<ForecastRun::PresentNode> ForecastRun::present_nodes() const {
  const auto& recorder = cluster_->world().recorder();
  std::map<std::string, std::size_t> pods;
  for (const auto& [uid, record] : recorder.pods()) {
    if (!record.gone && counts_as_pod(*record.last)) {
      ++pods[record.last->spec.node_name];
    }
  }
  std::map<std::string, std::string> uids;
  for (const auto& [uid, record] : recorder.nodes()) {
    if (!record.gone) {
      uids[record.last->meta.name] = uid;
    }
  }
  std::vector<PresentNode> present;
  for (const auto& node : recorder.view().nodes) {
    NodeLine line{.node = node.name,
                  .why = {},
                  .node_pool = node.node_pool,
                  .instance_type = node.instance_type,
                  .zone = node.zone,
                  .capacity_type = node.capacity_type,
                  .price = node.price,
                  .nodes = 1,
                  .pods = pods[node.name]};
    present.push_back({uids[node.name], std::move(line)});
  }
  return present;
}

ClusterSize ForecastRun::size() const {
  ClusterSize size;
  for (const auto& [uid, line] : present_nodes()) {
    ++size.nodes;
    size.price += line.price.value_or(0);
    size.without_price += line.price ? 0 : 1;
  }
  // Sums of the same prices in another order are the same.
  size.price = std::round(size.price * kPriceSteps) / kPriceSteps;
  for (const auto& [uid, record] : cluster_->world().recorder().pods()) {
    if (!record.gone && !record.last->meta.is_deleting() && counts_as_pod(*record.last)) {
      size.running += record.last->status.phase == "Running" ? 1 : 0;
      size.waiting += record.last->spec.node_name.empty() ? 1 : 0;
    }
  }
  return size;
}

void ForecastRun::tell(Forecast& forecast) const {
  forecast.start = setup_.start;
  forecast.took = took();
  forecast.settled = settled_;
  forecast.before = before_;
  forecast.after = size();
  tell_nodes(forecast);
  tell_pods(forecast);
  tell_waiting(forecast);
  for (const auto& [node, why] : changes_->undrained()) {
    forecast.notes.push_back("node " + node + " is not drained: " + why);
  }
}

std::string ForecastRun::why_gone(const std::string& name, const model::Node& node) const {
  const auto& zones = changes_->zones_out();
  const auto& zone = node.meta.label(model::kZoneLabel);
  if (std::find(zones.begin(), zones.end(), zone) != zones.end()) {
    return "zone out";
  }
  if (const auto found = removals_.find(name); found != removals_.end()) {
    return found->second;
  }
  for (const auto& [uid, claim] : cluster_->world().recorder().claims()) {
    if (claim.last->provider_id == node.provider_id) {
      const auto found = removals_.find(claim.last->meta.name);
      return found == removals_.end() ? "deleted" : found->second;
    }
  }
  return "deleted";
}

void ForecastRun::tell_nodes(Forecast& forecast) const {
  const auto& recorder = cluster_->world().recorder();
  for (auto& [uid, line] : present_nodes()) {
    if (nodes_before_.contains(uid)) {
      continue;
    }
    line.node.clear();
    const auto same = std::find_if(
        forecast.bought.begin(), forecast.bought.end(),
        [&](const NodeLine& other) { return kind_of_line(other) == kind_of_line(line); });
    if (same == forecast.bought.end()) {
      forecast.bought.push_back(std::move(line));
    } else {
      same->nodes += line.nodes;
      same->pods += line.pods;
    }
  }
  std::sort(forecast.bought.begin(), forecast.bought.end(),
            [](const NodeLine& a, const NodeLine& b) { return kind_of_line(a) < kind_of_line(b); });
  for (const auto& [uid, record] : recorder.nodes()) {
    const auto& node = *record.last;
    if (!record.gone) {
      continue;
    }
    if (!nodes_before_.contains(uid)) {
      ++forecast.bought_and_gone;
      continue;
    }
    const auto priced = prices_before_.find(node.meta.name);
    forecast.removed.push_back(
        {.node = node.meta.name,
         .why = why_gone(node.meta.name, node),
         .node_pool = node.meta.label(model::kNodePoolLabel),
         .instance_type = node.meta.label(model::kInstanceTypeLabel),
         .zone = node.meta.label(model::kZoneLabel),
         .capacity_type = node.meta.label(model::kCapacityTypeLabel),
         .price = priced == prices_before_.end() ? std::nullopt : priced->second});
    forecast.drifted += forecast.removed.back().why == "Drifted" ? 1 : 0;
  }
  std::sort(forecast.removed.begin(), forecast.removed.end(),
            [](const NodeLine& a, const NodeLine& b) { return a.node < b.node; });
  tell_drifted(forecast);
}

void ForecastRun::tell_drifted(Forecast& forecast) const {
  std::map<std::string, std::string> kept;  // by claim
  for (const auto& decision : cluster_->engine().decisions().all()) {
    if (decision->kind == telemetry::DecisionKind::Kept && !decision->about.empty()) {
      kept[decision->about.front().name] = decision->message;
    }
  }
  std::map<std::string, std::size_t> reasons;
  for (const auto& [uid, claim] : cluster_->world().recorder().claims()) {
    if (!claim.gone && model::is_true(claim.last->conditions, model::kDrifted)) {
      ++forecast.drifted;
      ++reasons[kept[claim.last->meta.name]];
    }
  }
  for (const auto& [reason, count] : reasons) {
    forecast.notes.push_back(std::to_string(count) +
                             (count == 1 ? " drifted node is" : " drifted nodes are") +
                             " still there" + (reason.empty() ? "" : ": " + reason));
  }
}

// A pod moves when it ends after its node was cordoned, disrupted or lost; others end because their
// workload wants fewer.
void ForecastRun::tell_pods(Forecast& forecast) const {
  const auto& recorder = cluster_->world().recorder();
  std::map<std::string, base::TimePoint> left_from;  // by node
  for (const auto& [uid, node] : recorder.nodes()) {
    for (const auto& time : {node.disrupted, node.deleting, node.gone}) {
      if (time) {
        auto& from = left_from.try_emplace(node.last->meta.name, *time).first->second;
        from = std::min(from, *time);
      }
    }
    if (node.last->unschedulable) {
      left_from[node.last->meta.name] = setup_.start;
    }
  }
  std::map<std::string, std::size_t> moved;
  for (const auto& [uid, record] : recorder.pods()) {
    const auto& pod = *record.last;
    const auto from = left_from.find(pod.spec.node_name);
    const auto& ended = record.deleting;
    if (ended && pods_before_.contains(uid) && counts_as_pod(pod) && from != left_from.end() &&
        from->second <= *ended) {
      ++moved[workload_of(pod)];
    }
  }
  forecast.moved = lines_of_workloads(moved);
}

scheduling::Problem ForecastRun::problem() const {
  const auto snapshot = cluster_->engine().state().latest();
  scheduling::Problem problem;
  for (const auto& record : snapshot->nodes) {
    problem.counted_nodes.push_back(record);
    if (!record->marked_for_deletion && !record->fenced) {
      problem.nodes.push_back(record);
    }
  }
  for (const auto& pool : snapshot->node_pools) {
    const auto& ref = pool->template_.node_class_ref;
    auto* cloud = cloud_serving(*cluster_, setup_.clouds, ref);
    const auto node_class = controllers::find_node_class(*snapshot, ref);
    if (cloud == nullptr || node_class == nullptr) {
      continue;
    }
    if (auto types = cloud->instance_types(*pool, *node_class)) {
      problem.pools.push_back({pool, *std::move(types)});
    }
  }
  problem.daemon_sets = snapshot->daemon_sets;
  problem.cluster = snapshot;
  return problem;
}

void ForecastRun::tell_waiting(Forecast& forecast) const {
  struct Waiting {
    scheduling::PodPtr pod;
    std::size_t pods = 0;
  };
  std::map<std::pair<std::string, std::string>, Waiting> groups;  // workload, group
  for (const auto& [uid, record] : cluster_->world().recorder().pods()) {
    const auto& pod = record.last;
    if (record.gone || pod->meta.is_deleting() || !pod->spec.node_name.empty() ||
        !counts_as_pod(*pod)) {
      continue;
    }
    auto& group = groups[{workload_of(*pod), scheduling::group_of(*pod).text()}];
    ++group.pods;
    if (group.pod == nullptr || pod->meta.name < group.pod->meta.name) {
      group.pod = pod;
    }
  }
  if (groups.empty()) {
    return;
  }
  const auto empty_problem = problem();
  for (const auto& [key, group] : groups) {
    if (!group.pod->spec.scheduling_gates.empty()) {
      forecast.refused.push_back(
          {key.first,
           model::key_of(group.pod->meta).to_string(),
           group.pods,
           {.reason = "its scheduling gates keep it", .remedy = {}, .then = {}}});
      continue;
    }
    auto why = explain_waiting(empty_problem, group.pod);
    if (why.reason.empty()) {
      forecast.waiting.push_back({key.first, group.pods});
    } else {
      forecast.refused.push_back(
          {key.first, model::key_of(group.pod->meta).to_string(), group.pods, std::move(why)});
    }
  }
}

}  // namespace millwright::app
