#include "sandbox/scheduler/scheduler.hpp"

#include "sandbox/scheduler/filters.hpp"
#include "sandbox/scheduler/scores.hpp"
#include "sandbox/scheduler/volume_limits.hpp"
#include "sandbox/workloads/events.hpp"
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

constexpr std::string_view kComponent = "default-scheduler";
// Extenders score up to 10, the scheduler's own plugins up to 100.
constexpr std::int64_t kExtenderScale = 10;

// "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable."
std::string unschedulable_message(std::size_t nodes,
                                  const std::map<std::string, std::size_t>& why) {
  if (nodes == 0) {
    return "no nodes available to schedule pods";
  }
  std::vector<std::string> parts;
  for (const auto& [reason, count] : why) {
    parts.push_back(fmt::format("{} {}", count, reason));
  }
  std::sort(parts.begin(), parts.end());
  return fmt::format("0/{} nodes are available: {}.", nodes, fmt::join(parts, ", "));
}

}  // namespace

Scheduler::Scheduler(ClusterContext& context, SchedulerOptions options)
    : context_(context),
      options_(std::move(options)),
      queue_(options_.min_backoff, options_.max_backoff, options_.unschedulable_flush),
      signal_(context.loop),
      tasks_(context.loop) {}

Scheduler::~Scheduler() {
  stop();
}

void Scheduler::start() {
  running_ = true;
  for (const auto& [name, node] : context_.index.nodes()) {
    cache_.set_node(node);
  }
  for (const auto& [key, entry] : context_.index.pods()) {
    cache_.set_pod(entry.pod);
    if (is_mine(*entry.pod)) {
      queue_.add(entry.pod);
    }
  }
  tasks_.spawn(run(tasks_.stop_token()));
}

void Scheduler::retire() {
  running_ = false;
  tasks_.request_stop();
}

void Scheduler::stop() {
  retire();
  for (const auto& [uid, timer] : bindings_) {
    context_.loop.cancel(timer);
  }
  bindings_.clear();
}

base::Task<void> Scheduler::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    auto next = queue_.pop(context_.now());
    if (next) {
      co_await schedule_one(*std::move(next));
      if (options_.cycle_time > base::Duration::zero()) {
        co_await base::sleep(context_.loop, options_.cycle_time, stop);
      } else {
        co_await base::yield(context_.loop);
      }
      continue;
    }
    std::optional<base::Duration> wait;
    if (const auto due = queue_.next_time()) {
      wait = std::max(*due - context_.now(), base::Duration(1));
    }
    co_await signal_.wait(stop, wait);
  }
}

base::Task<void> Scheduler::schedule_one(QueuedPod queued) {
  const auto uid = queued.pod->meta.uid;
  const auto* entry = context_.index.pod(model::key_of(queued.pod->meta));
  if (entry == nullptr || entry->pod->meta.uid != uid || !is_mine(*entry->pod)) {
    co_return;  // gone, or placed by somebody else
  }
  queued.pod = entry->pod;
  in_flight_ = InFlight{uid, queued.pod, false, false, false, false};
  auto decision = co_await decide(queued.pod, to_text(*entry->object));
  const auto meanwhile = std::move(in_flight_).value_or(InFlight{});
  in_flight_.reset();
  if (meanwhile.gone) {
    co_return;
  }
  queued.pod = meanwhile.pod;
  if (!decision.node.empty()) {
    bind(std::move(queued), decision.node);
    co_return;
  }
  refuse(std::move(queued), decision);
  // What happened during the cycle counts as having happened after it.
  if (meanwhile.changed) {
    if (const auto* again = queue_.find(uid)) {
      queue_.add(again->pod);
    }
  } else if (meanwhile.woken) {
    const bool helped = meanwhile.helped;
    queue_.wake([&](const model::Pod& pod) { return helped && pod.meta.uid == uid; },
                context_.now());
  }
}

NodeInfo Scheduler::with_nominated(const NodeInfo& node, const model::Pod& pod) const {
  auto view = node;
  for (const auto& [uid, other] : cache_.nominated_on(node.node->meta.name)) {
    if (uid != pod.meta.uid && other->spec.priority >= pod.spec.priority &&
        !view.pods.contains(uid)) {
      put_on(view, other);
    }
  }
  return view;
}

Scheduler::Filtered Scheduler::filter_in_tree(const model::Pod& pod) const {
  Filtered filtered;
  const auto nodes = cache_.nodes();
  const VolumeLimits volume_limits(context_.store(), pod);
  std::vector<const NodeInfo*> candidates;
  for (const auto* node : nodes) {
    const bool has_nominated = !cache_.nominated_on(node->node->meta.name).empty();
    auto reasons = node_reasons(pod, has_nominated ? with_nominated(*node, pod) : *node);
    if (reasons.empty() && !volume_limits.admit(*node)) {
      reasons.emplace_back("node(s) exceed max volume count");
    }
    for (const auto& reason : reasons) {
      ++filtered.reasons[reason];
    }
    if (reasons.empty()) {
      candidates.push_back(node);
    }
  }
  if (candidates.empty()) {
    return filtered;
  }
  const TopologyFilter topology(pod, nodes);
  for (const auto* node : candidates) {
    const auto reasons = topology.reasons(*node);
    for (const auto& reason : reasons) {
      ++filtered.reasons[reason];
    }
    if (reasons.empty()) {
      filtered.names.push_back(node->node->meta.name);
    }
  }
  return filtered;
}

base::Task<Scheduler::Decision> Scheduler::decide(PodPtr pod, std::string pod_json) {
  Decision decision;
  decision.nodes = cache_.nodes().size();
  auto filtered = filter_in_tree(*pod);
  auto names = std::move(filtered.names);
  decision.reasons = std::move(filtered.reasons);
  decision.rejection = Rejection::InTree;
  std::set<std::string> hopeless;
  // The nominated node is tried first and alone; if it passes, nothing else is looked at.
  const auto& nominated = pod->status.nominated_node_name;
  if (std::find(names.begin(), names.end(), nominated) != names.end()) {
    const std::vector<std::string> only(1, nominated);
    std::optional<FilterAnswer> answered;
    if (extender_ != nullptr) {
      answered = co_await ask_filter(pod_json, only);
    }
    if (!answered || !answered->passed.empty()) {
      decision.node = nominated;
      co_return decision;
    }
  }
  if (!names.empty() && extender_ != nullptr) {
    auto answered = co_await ask_filter(pod_json, names);
    if (answered) {
      if (answered->passed.size() < names.size()) {
        decision.rejection = Rejection::Extender;
      }
      names = std::move(answered->passed);
      hopeless = std::move(answered->hopeless);
      for (const auto& [reason, count] : answered->reasons) {
        decision.reasons[reason] += count;
      }
    }
  }
  if (names.empty()) {
    decision.nominated = co_await preempt(pod, std::move(pod_json), std::move(hopeless));
    co_return decision;
  }
  std::map<std::string, std::int64_t> extra;
  if (names.size() > 1 && extender_ != nullptr) {
    extra = co_await ask_scores(pod_json, names);
  }
  decision.node = best_node(*pod, names, extra);
  co_return decision;
}

std::string Scheduler::best_node(const model::Pod& pod, const std::vector<std::string>& names,
                                 const std::map<std::string, std::int64_t>& extender_scores) const {
  // The extender may have taken its time: nodes are looked up anew.
  std::vector<const NodeInfo*> nodes;
  for (const auto& name : names) {
    if (const auto* node = cache_.find(name)) {
      nodes.push_back(node);
    }
  }
  const auto scores = in_tree_scores(pod, nodes);
  std::string best;
  std::int64_t most = -1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& name = nodes[i]->node->meta.name;
    const auto more = extender_scores.find(name);
    const auto extra = more == extender_scores.end() ? 0 : more->second;
    const auto total = scores[i] + extra * options_.extender_weight * kExtenderScale;
    if (total > most) {
      most = total;
      best = name;
    }
  }
  return best;
}

void Scheduler::bind(QueuedPod queued, const std::string& node) {
  const auto uid = queued.pod->meta.uid;
  cache_.assume(queued.pod, node);
  bindings_[uid] =
      context_.loop.after(options_.bind_latency, [this, pod = std::move(queued), node] {
        bindings_.erase(pod.pod->meta.uid);
        finish_binding(pod, node);
      });
}

void Scheduler::finish_binding(const QueuedPod& queued, const std::string& node) {
  const auto key = model::key_of(queued.pod->meta);
  const auto bound = context_.registry.bind(key, queued.pod->meta.uid, node);
  if (!bound) {
    cache_.forget(queued.pod->meta.uid);
    // kube-scheduler takes this for the deletion of a pod: others may have the room that it held.
    wake([](const model::Pod&) { return true; });
    const auto* entry = context_.index.pod(key);
    if (entry != nullptr && entry->pod->meta.uid == queued.pod->meta.uid && is_mine(*entry->pod)) {
      auto again = queued;
      again.pod = entry->pod;
      queue_.put_back(std::move(again), Rejection::Error, context_.now());
    }
    return;
  }
  if (const auto* entry = context_.index.pod(key)) {
    const auto object = entry->object;
    context_.events.write(*object, kComponent, "Normal", "Scheduled",
                          fmt::format("Successfully assigned {} to {}", key.to_string(), node));
  }
}

void Scheduler::refuse(QueuedPod queued, const Decision& decision) {
  const auto pod = queued.pod;
  const auto message = unschedulable_message(decision.nodes, decision.reasons);
  queue_.put_back(std::move(queued), decision.rejection, context_.now());
  report_unschedulable(*pod, decision, message);
}

void Scheduler::report_unschedulable(const model::Pod& pod, const Decision& decision,
                                     const std::string& message) {
  const auto key = model::key_of(pod.meta);
  const auto* entry = context_.index.pod(key);
  if (entry == nullptr) {
    return;
  }
  const auto object = entry->object;
  const auto now = context_.registry.now_text();
  edit(context_, model::kPodResource, key, Part::Status, [&](Json& json) {
    set_condition(json, "PodScheduled", "False", "Unschedulable", message, now);
    if (!decision.nominated.empty()) {
      make(json, "status.nominatedNodeName") = decision.nominated;
    } else if (decision.rejection == Rejection::Extender) {
      erase(json, "status.nominatedNodeName");  // nobody agreed to it
    }
  });
  context_.events.write(*object, kComponent, "Warning", "FailedScheduling", message);
}

}  // namespace millwright::sandbox
