// Pods, nodes, workloads and events.
#include "sandbox/apiserver/showing/printers.hpp"

#include "millwright/model/codec.hpp"
#include "sandbox/apiserver/showing/cells.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

Cells print_pod(const Json& pod, base::TimePoint now) {
  std::size_t ready = 0;
  std::int64_t restarts = 0;
  for (const auto& status : items(pod, "status.containerStatuses")) {
    ready += boolean(status, "ready") ? 1 : 0;
    restarts += integer(status, "restartCount");
  }
  return {Json(fmt::format("{}/{}", ready, items(pod, "spec.containers").size())),
          Json(pod_status_text(pod)),
          Json(std::to_string(restarts)),
          age(pod, now),
          cell(text(pod, "status.podIP")),
          cell(text(pod, "spec.nodeName")),
          cell(text(pod, "status.nominatedNodeName")),
          Json("<none>")};
}

std::string node_status(const Json& node) {
  std::string status = "Unknown";
  for (const auto& condition : items(node, "status.conditions")) {
    if (text(condition, "type") == "Ready") {
      status = text(condition, "status") == "True" ? "Ready" : "NotReady";
    }
  }
  return boolean(node, "spec.unschedulable") ? status + ",SchedulingDisabled" : status;
}

std::string node_roles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::vector<std::string> roles;
  for (const auto& [key, value] : fields(node, "metadata.labels")) {
    if (std::string_view(key).starts_with(kPrefix)) {
      roles.emplace_back(std::string_view(key).substr(kPrefix.size()));
    }
  }
  std::sort(roles.begin(), roles.end());
  std::string all;
  for (const auto& role : roles) {
    all += (all.empty() ? "" : ",") + role;
  }
  return all;
}

std::string node_address(const Json& node, std::string_view type) {
  for (const auto& address : items(node, "status.addresses")) {
    if (text(address, "type") == type) {
      return std::string(text(address, "address"));
    }
  }
  return {};
}

Cells print_node(const Json& node, base::TimePoint now) {
  return {Json(node_status(node)),
          cell(node_roles(node)),
          age(node, now),
          cell(text(node, "status.nodeInfo.kubeletVersion")),
          cell(node_address(node, "InternalIP")),
          cell(node_address(node, "ExternalIP")),
          cell(text(node, "status.nodeInfo.osImage"), "<unknown>"),
          cell(text(node, "status.nodeInfo.kernelVersion"), "<unknown>"),
          cell(text(node, "status.nodeInfo.containerRuntimeVersion"), "<unknown>")};
}

void add_template_cells(Cells& cells, const Json& workload, bool selector) {
  const auto* spec = find(workload, "spec.template.spec");
  const Json none;
  cells.emplace_back(container_names(spec == nullptr ? none : *spec));
  cells.emplace_back(container_images(spec == nullptr ? none : *spec));
  if (selector) {
    cells.emplace_back(selector_text(find(workload, "spec.selector")));
  }
}

Cells print_deployment(const Json& json, base::TimePoint now) {
  Cells cells{Json(fmt::format("{}/{}", integer(json, "status.readyReplicas"),
                               integer(json, "spec.replicas"))),
              number(json, "status.updatedReplicas"), number(json, "status.availableReplicas"),
              age(json, now)};
  add_template_cells(cells, json, true);
  return cells;
}

Cells print_replica_set(const Json& json, base::TimePoint now) {
  Cells cells{number(json, "spec.replicas"), number(json, "status.replicas"),
              number(json, "status.readyReplicas"), age(json, now)};
  add_template_cells(cells, json, true);
  return cells;
}

Cells print_stateful_set(const Json& json, base::TimePoint now) {
  Cells cells{Json(fmt::format("{}/{}", integer(json, "status.readyReplicas"),
                               integer(json, "spec.replicas"))),
              age(json, now)};
  add_template_cells(cells, json, false);
  return cells;
}

Cells print_daemon_set(const Json& json, base::TimePoint now) {
  Cells cells{number(json, "status.desiredNumberScheduled"),
              number(json, "status.currentNumberScheduled"),
              number(json, "status.numberReady"),
              number(json, "status.updatedNumberScheduled"),
              number(json, "status.numberAvailable"),
              Json(selector_text(find(json, "spec.template.spec.nodeSelector"))),
              age(json, now)};
  add_template_cells(cells, json, true);
  return cells;
}

Cells print_job(const Json& json, base::TimePoint now) {
  const auto done = integer(json, "status.succeeded");
  std::string status = "Running";
  for (const auto& condition : items(json, "status.conditions")) {
    if (text(condition, "status") == "True") {
      status = text(condition, "type");
    }
  }
  std::string duration;
  if (const auto start = base::parse_rfc3339(text(json, "status.startTime"))) {
    const auto end = base::parse_rfc3339(text(json, "status.completionTime")).value_or(now);
    duration = base::format_human_duration(end - *start);
  }
  const auto parallelism = integer(json, "spec.parallelism", 1);
  std::string wanted = std::to_string(integer(json, "spec.completions", 1));
  if (find(json, "spec.completions") == nullptr && parallelism > 1) {
    wanted += fmt::format(" of {}", parallelism);
  }
  Cells cells{Json(status), Json(fmt::format("{}/{}", done, wanted)), Json(duration),
              age(json, now)};
  add_template_cells(cells, json, true);
  return cells;
}

Cells print_event(const Json& event, base::TimePoint now) {
  const auto series = text(event, "series.lastObservedTime");
  auto last = series.empty() ? text(event, "lastTimestamp") : series;
  if (last.empty()) {
    last = text(event, "eventTime");
  }
  auto first = text(event, "firstTimestamp");
  if (first.empty()) {
    first = text(event, "eventTime");
  }
  auto source = text(event, "source.component");
  if (source.empty()) {
    source = text(event, "reportingComponent");
  }
  std::string kind(text(event, "involvedObject.kind"));
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return {Json(age_since(last, now)),
          Json(text(event, "type")),
          Json(text(event, "reason")),
          Json(fmt::format("{}/{}", kind, text(event, "involvedObject.name"))),
          Json(text(event, "involvedObject.fieldPath")),
          Json(source),
          Json(text(event, "message")),
          Json(age_since(first, now)),
          Json(std::max<std::int64_t>(1, integer(event, "count"))),
          Json(text(event, "metadata.name"))};
}

}  // namespace

const std::vector<Printer>& workload_printers() {
  static const std::vector<Printer> kPrinters = {
      {"Pod",
       {{"Ready"},
        {"Status"},
        {"Restarts"},
        {"Age"},
        {"IP", true},
        {"Node", true},
        {"Nominated Node", true},
        {"Readiness Gates", true}},
       print_pod},
      {"Node",
       {{"Status"},
        {"Roles"},
        {"Age"},
        {"Version"},
        {"Internal-IP", true},
        {"External-IP", true},
        {"OS-Image", true},
        {"Kernel-Version", true},
        {"Container-Runtime", true}},
       print_node},
      {"Deployment",
       {{"Ready"},
        {"Up-to-date", false, true},
        {"Available", false, true},
        {"Age"},
        {"Containers", true},
        {"Images", true},
        {"Selector", true}},
       print_deployment},
      {"ReplicaSet",
       {{"Desired", false, true},
        {"Current", false, true},
        {"Ready", false, true},
        {"Age"},
        {"Containers", true},
        {"Images", true},
        {"Selector", true}},
       print_replica_set},
      {"StatefulSet",
       {{"Ready"}, {"Age"}, {"Containers", true}, {"Images", true}},
       print_stateful_set},
      {"DaemonSet",
       {{"Desired", false, true},
        {"Current", false, true},
        {"Ready", false, true},
        {"Up-to-date", false, true},
        {"Available", false, true},
        {"Node Selector"},
        {"Age"},
        {"Containers", true},
        {"Images", true},
        {"Selector", true}},
       print_daemon_set},
      {"Job",
       {{"Status"},
        {"Completions"},
        {"Duration"},
        {"Age"},
        {"Containers", true},
        {"Images", true},
        {"Selector", true}},
       print_job},
      {"Event",
       {{"Last Seen"},
        {"Type"},
        {"Reason"},
        {"Object"},
        {"Subobject", true},
        {"Source", true},
        {"Message"},
        {"First Seen", true},
        {"Count", true, true},
        {"Name", true}},
       print_event,
       true},
  };
  return kPrinters;
}

const Printer* find_printer(std::string_view kind) {
  for (const auto* printers : {&workload_printers(), &configuration_printers()}) {
    for (const auto& printer : *printers) {
      if (printer.kind == kind) {
        return &printer;
      }
    }
  }
  return nullptr;
}

}  // namespace millwright::sandbox
