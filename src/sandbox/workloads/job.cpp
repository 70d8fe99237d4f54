// Job: pods until enough of them succeeded, or too many failed.
#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::sandbox {

namespace {

class JobController final : public Controller {
 public:
  using Controller::Controller;

  void observe(const ResourceInfo& info, const Event& event) override {
    if (info.resource.kind == "Job") {
      enqueue(key_of(*event.object));
    } else if (info.resource.kind == "Pod") {
      enqueue_owner(*event.object, "Job");
    }
  }

 protected:
  void reconcile(const model::ObjectKey& key) override {
    const auto job = context_.store().find(info_of(model::kJobResource), key);
    if (job == nullptr || find(*job, "metadata.deletionTimestamp") != nullptr) {
      return;
    }
    const Tally tally = count(*job);
    const bool ended = find(*job, "status.completionTime") != nullptr || has_failed(*job);
    if (ended) {
      expire(key, *job);
      return;
    }
    const bool complete = is_complete(*job, tally);
    const bool failed = tally.failed > integer(*job, "spec.backoffLimit", 6);
    if (!complete && !failed && !boolean(*job, "spec.suspend")) {
      for (auto i = tally.active; i < wanted_pods(*job, tally); ++i) {
        add(context_, model::kPodResource, pod_from_template(*job));
      }
    }
    write_status(key, count(*job), complete, failed);
  }

 private:
  struct Tally {
    std::int64_t active = 0;
    std::int64_t ready = 0;
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;
  };

  Tally count(const Json& job) const {
    Tally tally;
    for (const auto* entry : context_.index.pods_of(text(job, "metadata.uid"))) {
      const auto& pod = *entry->pod;
      if (pod.status.phase == "Succeeded") {
        ++tally.succeeded;
      } else if (pod.status.phase == "Failed") {
        ++tally.failed;
      } else if (!pod.meta.is_deleting()) {
        ++tally.active;
        tally.ready += is_pod_ready(pod) ? 1 : 0;
      }
    }
    return tally;
  }

  // Without completions the pods share a queue of work: once one has succeeded, the others end too.
  static bool is_queue(const Json& job) { return find(job, "spec.completions") == nullptr; }

  static bool is_complete(const Json& job, const Tally& tally) {
    return is_queue(job) ? tally.succeeded > 0 && tally.active == 0
                         : tally.succeeded >= integer(job, "spec.completions", 1);
  }

  static std::int64_t wanted_pods(const Json& job, const Tally& tally) {
    const auto parallelism = integer(job, "spec.parallelism", 1);
    if (is_queue(job)) {
      return tally.succeeded > 0 ? 0 : parallelism;
    }
    return std::min(parallelism, integer(job, "spec.completions", 1) - tally.succeeded);
  }

  static bool has_failed(const Json& job) {
    for (const auto& condition : items(job, "status.conditions")) {
      if (text(condition, "type") == "Failed" && text(condition, "status") == "True") {
        return true;
      }
    }
    return false;
  }

  void expire(const model::ObjectKey& key, const Json& job) {
    const auto ended = base::parse_rfc3339(text(job, "status.completionTime"));
    if (find(job, "spec.ttlSecondsAfterFinished") == nullptr || !ended) {
      return;
    }
    const auto due = *ended + std::chrono::seconds(integer(job, "spec.ttlSecondsAfterFinished"));
    if (due > context_.now()) {
      enqueue_after(key, due - context_.now());
    } else {
      remove(context_, model::kJobResource, key);
    }
  }

  void write_status(const model::ObjectKey& key, const Tally& tally, bool complete, bool failed) {
    const auto now = context_.registry.now_text();
    edit(context_, model::kJobResource, key, Part::Status, [&](Json& json) {
      auto& status = make_object(json, "status");
      if (boolean(json, "spec.suspend")) {
        status.erase("startTime");
      } else if (!status.contains("startTime")) {
        status["startTime"] = now;
      }
      status["active"] = tally.active;
      status["ready"] = tally.ready;
      status["succeeded"] = tally.succeeded;
      status["failed"] = tally.failed;
      if (complete) {
        status["completionTime"] = now;
        set_condition(json, "SuccessCriteriaMet", "True", "CompletionsReached",
                      "Reached expected number of succeeded pods", now);
        set_condition(json, "Complete", "True", "CompletionsReached",
                      "Reached expected number of succeeded pods", now);
      } else if (failed) {
        set_condition(json, "Failed", "True", "BackoffLimitExceeded",
                      "Job has reached the specified backoff limit", now);
      }
    });
  }
};

}  // namespace

std::unique_ptr<Controller> make_job_controller(ClusterContext& context) {
  return std::make_unique<JobController>(context);
}

}  // namespace millwright::sandbox
