// The life of a pod on a machine that runs: started after a while, ended after its deletion, ended
// by itself when it belongs to a Job.
#include "sandbox/workloads/pods.hpp"

#include "millwright/model/codec.hpp"
#include "sandbox/kubelet/kubelet.hpp"
#include "sandbox/workloads/events.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

boost::json::array container_statuses(const Json& pod, bool ended, const std::string& now) {
  boost::json::array statuses;
  for (const auto& container : items(pod, "spec.containers")) {
    boost::json::object state;
    if (ended) {
      state["terminated"] = boost::json::object{
          {"exitCode", 0}, {"reason", "Completed"}, {"startedAt", now}, {"finishedAt", now}};
    } else {
      state["running"] = boost::json::object{{"startedAt", now}};
    }
    statuses.push_back(boost::json::object{{"name", text(container, "name")},
                                           {"image", text(container, "image")},
                                           {"imageID", text(container, "image")},
                                           {"containerID", "sandbox://none"},
                                           {"ready", !ended},
                                           {"started", !ended},
                                           {"restartCount", 0},
                                           {"lastState", boost::json::object{}},
                                           {"state", std::move(state)}});
  }
  return statuses;
}

bool ends_by_itself(const model::Pod& pod) {
  const auto* owner = pod.meta.controller();
  return (owner != nullptr && owner->kind == "Job") ||
         !pod.meta.annotation(kRunForAnnotation).empty();
}

}  // namespace

void Kubelet::observe(const ResourceInfo& info, const Event& event) {
  if (!running_ || info.resource.kind != "Pod" || text(*event.object, "spec.nodeName").empty()) {
    return;
  }
  const auto uid = std::string(text(*event.object, "metadata.uid"));
  if (event.change == Change::Deleted) {
    if (const auto step = steps_.find(uid); step != steps_.end()) {
      context_.loop.cancel(step->second.timer);
      steps_.erase(step);
    }
    return;
  }
  const auto* entry = context_.index.pod(key_of(*event.object));
  if (entry == nullptr) {
    return;
  }
  const auto& pod = *entry->pod;
  const bool was_bound =
      event.previous != nullptr && !text(*event.previous, "spec.nodeName").empty();
  const bool was_deleting =
      event.previous != nullptr && find(*event.previous, "metadata.deletionTimestamp") != nullptr;
  if (pod.meta.is_deleting()) {
    const auto grace = std::chrono::seconds(pod.meta.deletion_grace_period_seconds.value_or(0));
    if (!was_deleting || grace.count() == 0) {
      step_after(uid, key_of(*event.object),
                 std::min<base::Duration>(options_.pod_stop, grace) + options_.pod_removal);
    }
  } else if (!was_bound) {
    step_after(uid, key_of(*event.object), options_.pod_start);
  }
}

void Kubelet::step_after(const std::string& uid, const model::ObjectKey& key,
                         base::Duration delay) {
  if (const auto step = steps_.find(uid); step != steps_.end()) {
    context_.loop.cancel(step->second.timer);
  }
  const auto due = context_.now() + delay;
  steps_[uid] = Step{due, context_.loop.at(due, [this, uid, key] {
                       steps_.erase(uid);
                       sync_pod(key);
                     })};
}

void Kubelet::sync_pod(const model::ObjectKey& key) {
  const auto* entry = context_.index.pod(key);
  if (entry == nullptr || machine_of(entry->pod->spec.node_name) == nullptr) {
    return;  // a machine that is gone does nothing any more
  }
  const auto copy = *entry;
  const auto& pod = *copy.pod;
  if (pod.meta.is_deleting()) {
    DeleteRequest request;
    request.uid = pod.meta.uid;
    request.grace_period_seconds = 0;
    remove(context_, model::kPodResource, key, request);
  } else if (pod.status.phase == "Pending") {
    run_pod(copy);
  } else if (pod.status.phase == "Running" && ends_by_itself(pod)) {
    finish_pod(copy);
  }
}

base::Duration Kubelet::run_time(const model::Pod& pod) const {
  if (const auto& written = pod.meta.annotation(kRunForAnnotation); !written.empty()) {
    if (const auto parsed = base::parse_go_duration(written)) {
      return *parsed;
    }
  }
  return options_.job_run_time;
}

void Kubelet::run_pod(const PodEntry& entry) {
  const auto now = context_.registry.now_text();
  const auto key = model::key_of(entry.pod->meta);
  ++pod_addresses_;
  const auto address = fmt::format("10.{}.{}.{}", 64 + pod_addresses_ / 62500 % 64,
                                   pod_addresses_ / 250 % 250, pod_addresses_ % 250 + 1);
  edit(context_, model::kPodResource, key, Part::Status, [&](Json& json) {
    auto& status = make_object(json, "status");
    status["phase"] = "Running";
    status["startTime"] = now;
    status["podIP"] = address;
    status["podIPs"] = boost::json::array{boost::json::object{{"ip", address}}};
    status["containerStatuses"] = container_statuses(json, false, now);
    for (const auto* type :
         {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"}) {
      set_condition(json, type, "True", "", "", now);
    }
  });
  context_.events.write(*entry.object, "kubelet", "Normal", "Started",
                        fmt::format("Started the containers of pod {}", key.name));
  if (ends_by_itself(*entry.pod)) {
    step_after(entry.pod->meta.uid, key, run_time(*entry.pod));
  }
}

void Kubelet::finish_pod(const PodEntry& entry) {
  const auto now = context_.registry.now_text();
  edit(context_, model::kPodResource, model::key_of(entry.pod->meta), Part::Status,
       [&](Json& json) {
         auto& status = make_object(json, "status");
         status["phase"] = "Succeeded";
         status["containerStatuses"] = container_statuses(json, true, now);
         set_condition(json, "Ready", "False", "PodCompleted", "", now);
         set_condition(json, "ContainersReady", "False", "PodCompleted", "", now);
       });
}

}  // namespace millwright::sandbox
