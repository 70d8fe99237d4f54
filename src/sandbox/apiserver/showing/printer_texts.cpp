// The composed texts of printer cells.
#include "millwright/model/codec.hpp"
#include "sandbox/apiserver/showing/printers.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace millwright::sandbox {

namespace {

std::string joined(const Json& pod_spec, std::string_view field) {
  std::string all;
  for (const auto& container : items(pod_spec, "containers")) {
    all += (all.empty() ? "" : ",");
    all += text(container, field);
  }
  return all;
}

// Why a container does not run, when it says so.
std::string container_reason(const Json& status) {
  if (const auto waiting = text(status, "state.waiting.reason"); !waiting.empty()) {
    return std::string(waiting);
  }
  if (find(status, "state.terminated") != nullptr) {
    const auto reason = text(status, "state.terminated.reason");
    return reason.empty() ? fmt::format("ExitCode:{}", integer(status, "state.terminated.exitCode"))
                          : std::string(reason);
  }
  return {};
}

}  // namespace

std::string age_since(std::string_view rfc3339, base::TimePoint now) {
  const auto time = base::parse_rfc3339(rfc3339);
  return time ? base::format_human_duration(std::max(now - *time, base::Duration::zero()))
              : "<unknown>";
}

std::string age_of(const Json& object, base::TimePoint now) {
  return age_since(text(object, "metadata.creationTimestamp"), now);
}

std::string selector_text(const Json* selector) {
  if (selector == nullptr || !selector->is_object() || selector->get_object().empty()) {
    return "<none>";
  }
  const auto& fields = selector->get_object();
  if (fields.contains("matchLabels") || fields.contains("matchExpressions")) {
    const auto decoded = model::decode_label_selector(*selector);
    return decoded ? model::to_string(*decoded) : "<invalid>";
  }
  model::LabelSelector plain;
  for (const auto& [key, value] : fields) {
    plain.match_labels.emplace(std::string(key),
                               value.is_string() ? std::string(value.get_string()) : "");
  }
  return model::to_string(plain);
}

std::string container_names(const Json& pod_spec) {
  return joined(pod_spec, "name");
}

std::string container_images(const Json& pod_spec) {
  return joined(pod_spec, "image");
}

std::string pod_status_text(const Json& pod) {
  std::string status(text(pod, "status.phase"));
  if (const auto reason = text(pod, "status.reason"); !reason.empty()) {
    status = reason;
  }
  for (const auto& condition : items(pod, "status.conditions")) {
    if (text(condition, "type") == "PodScheduled" &&
        text(condition, "reason") == "SchedulingGated") {
      status = "SchedulingGated";
    }
  }
  for (const auto& container : items(pod, "status.containerStatuses")) {
    if (auto reason = container_reason(container); !reason.empty()) {
      status = std::move(reason);
    }
  }
  return find(pod, "metadata.deletionTimestamp") != nullptr ? "Terminating" : status;
}

}  // namespace millwright::sandbox
