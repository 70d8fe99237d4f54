#include "millwright/model/workload.hpp"
#include "model/codec/reader.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace millwright::model {
namespace {

// These numbers have 32 bits in the API. Larger ones become the largest, and sums of them fit.
std::int64_t number_at(const detail::Reader& reader, std::string_view path, std::int64_t absent) {
  std::int64_t number = absent;
  reader.field(path, number);
  return std::clamp<std::int64_t>(number, std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::max());
}

bool is_set(const detail::Reader& reader, std::string_view path) {
  bool found = false;
  reader.at(path, [&found](const detail::Reader&) { found = true; });
  return found;
}

bool job_is_over(const std::vector<Condition>& conditions) {
  // The first two come a little before the others: no pod is created any more, but some still end.
  return is_true(conditions, "SuccessCriteriaMet") || is_true(conditions, "FailureTarget") ||
         is_true(conditions, "Complete") || is_true(conditions, "Failed");
}

std::int64_t length_of(const detail::Reader& reader, std::string_view path) {
  std::int64_t length = 0;
  reader.at(path, [&length](const detail::Reader& found) {
    const auto* const list = found.value().if_array();
    length = list == nullptr ? 0 : static_cast<std::int64_t>(list->size());
  });
  return length;
}

// Pods that ended are first listed by uid, and added to the number once their finalizers are gone.
std::int64_t ended_pods(const detail::Reader& job, std::string_view how) {
  const std::string result(how);
  return number_at(job, "status." + result, 0) +
         length_of(job, "status.uncountedTerminatedPods." + result);
}

// Pods that failed come back with a growing delay, of up to ten minutes. While it lasts,
// kube-controller-manager writes that no pod is active, whatever runs (manageJob returns 0), and
// writes the true number with the pods that it creates afterwards. That tells also of failures that
// spec.podFailurePolicy ignores, which are in no other number. Where each index has a delay of its
// own only the failed ones tell. By some policies a pod that is being deleted is replaced only when
// it is gone. The first status, with the start time, comes after the first pods.
bool job_fills_gaps_at_once(const detail::Reader& job, std::int64_t wanted) {
  std::string policy;
  job.field("spec.podReplacementPolicy", policy);
  const bool awaits_an_end = policy == "Failed" && number_at(job, "status.terminating", 0) > 0;
  const bool backs_off =
      wanted > 0 && is_set(job, "status.startTime") && number_at(job, "status.active", 0) == 0;
  return !backs_off && !awaits_an_end && ended_pods(job, "failed") == 0;
}

std::int64_t pods_of_job(const detail::Reader& job, const std::vector<Condition>& conditions) {
  bool suspended = false;
  job.field("spec.suspend", suspended);
  if (suspended || job_is_over(conditions)) {
    return 0;
  }
  const std::int64_t parallelism = number_at(job, "spec.parallelism", 1);
  const std::int64_t succeeded = ended_pods(job, "succeeded");
  if (!is_set(job, "spec.completions")) {
    // A work queue: once a pod has succeeded there is no work left, and nobody follows it.
    return succeeded > 0 ? 0 : parallelism;
  }
  return std::min(parallelism, number_at(job, "spec.completions", 1) - succeeded);
}

void read_pods(const detail::Reader& reader, Workload& out) {
  std::vector<Condition> conditions;
  reader.field("status.conditions", conditions);
  std::int64_t pods = 0;
  if (out.kind == kJobResource.kind) {
    pods = pods_of_job(reader, conditions);
    out.at_once = job_fills_gaps_at_once(reader, pods);
  } else {
    pods = number_at(reader, "spec.replicas", 1);
    if (out.kind == kStatefulSetResource.kind) {
      std::string policy;
      reader.field("spec.podManagementPolicy", policy);
      out.at_once = policy == "Parallel";
    } else {
      out.at_once = !is_true(conditions, "ReplicaFailure");
    }
  }
  out.pods = out.meta.is_deleting()
                 ? 0
                 : static_cast<std::int32_t>(std::clamp<std::int64_t>(pods, 0, kMostPods));
}

}  // namespace

bool is_workload(const OwnerReference& owner) {
  const std::string_view group = api_group(owner.api_version);
  return std::any_of(kWorkloadResources.begin(), kWorkloadResources.end(),
                     [&](const Resource& resource) {
                       return owner.kind == resource.kind && group == resource.group;
                     });
}

base::Result<Workload> decode_workload(std::string_view kind, const boost::json::value& json) {
  std::string problem;
  const detail::Reader reader(json, problem);
  Workload out;
  out.kind = kind;
  detail::check_kind(reader, kind);
  detail::read_slim(reader, out.meta);
  read_pods(reader, out);
  if (!problem.empty()) {
    return tl::unexpected(detail::object_error(kind, json, problem));
  }
  return out;
}

}  // namespace millwright::model
