// Pods made from a workload's template, and the sums that workload statuses report.
#pragma once

#include "sandbox/workloads/controller.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace millwright::sandbox {

boost::json::object owner_reference(const Json& owner);
// A pod of the workload's template. An empty `name` means a generated one.
Json pod_from_template(const Json& owner, std::string_view name = {});

struct PodCounts {
  std::int64_t active = 0;  // not ended, not being deleted
  std::int64_t ready = 0;
  std::int64_t available = 0;  // ready for minReadySeconds
};
PodCounts count_pods(const std::vector<const PodEntry*>& pods, base::Duration min_ready,
                     base::TimePoint now);

// Sets one condition, keeping lastTransitionTime while the status stays.
void set_condition(Json& object, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message, const std::string& now);

// Ten characters of a hash over JSON text, safe in names: pod-template-hash.
std::string template_hash(const Json& json);

}  // namespace millwright::sandbox
