#include "sandbox/workloads/pods.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {

boost::json::object owner_reference(const Json& owner) {
  return {{"apiVersion", text(owner, "apiVersion")},
          {"kind", text(owner, "kind")},
          {"name", text(owner, "metadata.name")},
          {"uid", text(owner, "metadata.uid")},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

Json pod_from_template(const Json& owner, std::string_view name) {
  Json pod = boost::json::object{};
  if (const auto* pod_template = find(owner, "spec.template")) {
    pod = *pod_template;
  }
  auto& meta = make_object(pod, "metadata");
  meta["namespace"] = text(owner, "metadata.namespace");
  meta.erase("creationTimestamp");
  if (name.empty()) {
    meta["generateName"] = std::string(text(owner, "metadata.name")) + "-";
  } else {
    meta["name"] = name;
  }
  meta["ownerReferences"] = boost::json::array{owner_reference(owner)};
  return pod;
}

PodCounts count_pods(const std::vector<const PodEntry*>& pods, base::Duration min_ready,
                     base::TimePoint now) {
  PodCounts counts;
  for (const auto* entry : pods) {
    if (!is_pod_active(*entry->pod)) {
      continue;
    }
    ++counts.active;
    if (!is_pod_ready(*entry->pod)) {
      continue;
    }
    ++counts.ready;
    const auto* ready = model::find_condition(entry->pod->status.conditions, "Ready");
    if (!ready->last_transition_time || *ready->last_transition_time + min_ready <= now) {
      ++counts.available;
    }
  }
  return counts;
}

void set_condition(Json& object, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message, const std::string& now) {
  auto& conditions = make_array(object, "status.conditions");
  boost::json::object condition{{"type", type},
                                {"status", status},
                                {"lastTransitionTime", now},
                                {"reason", reason},
                                {"message", message}};
  for (auto& present : conditions) {
    if (text(present, "type") != type) {
      continue;
    }
    if (text(present, "status") == status) {
      condition["lastTransitionTime"] = text(present, "lastTransitionTime");
    }
    // What others put there (lastHeartbeatTime, lastProbeTime) stays.
    for (const auto& [key, value] : present.as_object()) {
      if (!condition.contains(key)) {
        condition[key] = value;
      }
    }
    present = std::move(condition);
    return;
  }
  conditions.push_back(std::move(condition));
}

std::string template_hash(const Json& json) {
  // FNV-1a, written in the alphabet of generated names.
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : to_text(json)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  std::string out;
  for (int i = 0; i < 10; ++i) {
    out += kAlphabet[hash % kAlphabet.size()];
    hash /= kAlphabet.size();
  }
  return out;
}

}  // namespace millwright::sandbox
