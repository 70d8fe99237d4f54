#include "cloud/alibaba/catalog/type_labels.hpp"

#include "cloud/alibaba_labels.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/model/labels.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace millwright::cloud::alibaba {
namespace {

using scheduling::Requirement;
using scheduling::Requirements;

constexpr std::string_view kTypePrefix = "ecs.";
constexpr std::size_t kLongestLabel = 63;

std::string_view taken(std::string_view& text, std::string_view characters) {
  const auto end = std::min(text.find_first_not_of(characters), text.size());
  const auto head = text.substr(0, end);
  text.remove_prefix(end);
  return head;
}

// "Intel(R) Xeon(R) Platinum 8369B" to what a label's value may be:
// "Intel-R-Xeon-R-Platinum-8369B".
std::string label_value(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_';
    if (is_plain) {
      out += c;
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  out.resize(std::min(out.size(), kLongestLabel));
  while (!out.empty() && (out.back() == '-' || out.back() == '.' || out.back() == '_')) {
    out.pop_back();
  }
  return out;
}

// An empty value: the label does not apply.
void set_label(Requirements& labels, std::string key, std::string value) {
  if (value.empty()) {
    labels.add(Requirement(std::move(key), model::Operator::DoesNotExist));
  } else {
    labels.add(Requirement::in(std::move(key), {std::move(value)}));
  }
}

std::string unless_zero(std::int64_t value) {
  return value == 0 ? std::string() : std::to_string(value);
}

// What is told of a GPU; all of it is empty for a type without one.
struct Gpu {
  std::string model;      // "t4" of "NVIDIA T4"
  std::string maker;      // "nvidia"
  std::string full_name;  // "nvidia-t4"
  std::string count;
  std::int64_t memory_mib = 0;
};
Gpu gpu_of(const TypeFacts& type) {
  if (type.gpus <= 0) {
    return {};
  }
  const std::string_view spec = type.gpu;
  const auto space = spec.find(' ');
  const bool has_maker = space != std::string_view::npos;
  return {.model = lower_case(label_value(has_maker ? spec.substr(space + 1) : spec)),
          .maker = lower_case(label_value(has_maker ? spec.substr(0, space) : std::string_view())),
          .full_name = lower_case(label_value(spec)),
          .count = std::to_string(type.gpus),
          .memory_mib = type.gpu_memory_mib};
}

using Labels = std::map<std::string, std::string, std::less<>>;

Labels first_labels(const TypeFacts& type, const std::string& node_class) {
  const auto parts = parts_of_name(type.name);
  const auto gpu = gpu_of(type);
  Labels labels{{std::string(kNodeClassLabel), node_class}};
  const auto set = [&labels](std::string_view name, std::string value) {
    labels.emplace(std::string("karpenter.k8s.alibabacloud/").append(name), std::move(value));
  };
  set("instance-category", parts.category);
  set("instance-family", type.family);
  set("instance-generation", parts.generation);
  set("instance-size", parts.size);
  set("instance-cpu", std::to_string(type.cpus));
  set("instance-cpu-model", label_value(type.cpu_model));
  set("instance-memory", std::to_string(type.memory_mib));
  set("instance-gpu-name", gpu.model);
  set("instance-gpu-manufacturer", gpu.maker);
  set("instance-gpu-count", gpu.count);
  set("instance-gpu-memory", unless_zero(gpu.memory_mib));
  return labels;
}

// As Alibaba Cloud's own provider tells them: "g7" is a family there, and a GPU has its full name,
// and GiB.
Labels official_labels(const TypeFacts& type, const std::string& node_class) {
  const auto parts = parts_of_name(type.name);
  const auto gpu = gpu_of(type);
  const auto family = std::string_view(parts.family);
  Labels labels{
      {std::string(kOfficialNodeClassLabel), node_class},
      {"node.kubernetes.io/instance-family",
       std::string(family.substr(family.starts_with(kTypePrefix) ? kTypePrefix.size() : 0))},
      {"node.kubernetes.io/instance-size", parts.size}};
  const auto set = [&labels](std::string_view name, std::string value) {
    labels.emplace(std::string("karpenter.alibabacloud.com/").append(name), std::move(value));
  };
  set("instance-category", parts.category);
  set("instance-generation", parts.generation);
  set("instance-cpu", std::to_string(type.cpus));
  set("instance-memory", std::to_string(type.memory_mib));
  set("instance-gpu-name", gpu.full_name);
  set("instance-gpu-manufacturer", gpu.maker);
  set("instance-gpu-count", gpu.count);
  set("instance-gpu-memory", unless_zero(gpu.memory_mib / 1024));
  return labels;
}

}  // namespace

// Category and generation by ^ecs\.([a-z]+)(\-[0-9]+tb)?([0-9]+).*
NameParts parts_of_name(std::string_view name) {
  NameParts parts;
  const auto last = name.rfind('.');
  if (!name.starts_with(kTypePrefix) || last == std::string_view::npos ||
      last < kTypePrefix.size()) {
    return parts;
  }
  parts.family = name.substr(0, last);
  parts.size = name.substr(last + 1);
  std::string_view rest = name.substr(0, last);
  rest.remove_prefix(kTypePrefix.size());
  const auto category = taken(rest, "abcdefghijklmnopqrstuvwxyz");
  if (rest.starts_with('-')) {
    auto beyond = rest.substr(1);
    if (!taken(beyond, "0123456789").empty() && beyond.starts_with("tb")) {
      rest = beyond.substr(2);
    }
  }
  const auto generation = taken(rest, "0123456789");
  if (!category.empty() && !generation.empty()) {
    parts.category = category;
    parts.generation = generation;
  }
  return parts;
}

Requirements labels_of(const TypeFacts& type, const NodeClassSpec& node_class,
                       std::string_view region) {
  Requirements labels;
  const auto pin = [&labels](std::string_view key, std::string_view value) {
    labels.add(Requirement::in(key, {std::string(value)}));
  };
  pin(model::kInstanceTypeLabel, type.name);
  pin(model::kArchLabel, type.arch);
  pin(model::kOsLabel, "linux");
  pin(model::kRegionLabel, region);
  labels.add(Requirement(model::kWindowsBuildLabel, model::Operator::DoesNotExist));
  const auto first = first_labels(type, node_class.name);
  const auto official = official_labels(type, node_class.name);
  for (const auto& [key, value] : first) {
    set_label(labels, key, node_class.official ? std::string() : value);
  }
  for (const auto& [key, value] : official) {
    set_label(labels, key, node_class.official ? value : std::string());
  }
  return labels;
}

void register_labels() {
  for (const auto label : kAlibabaLabels) {
    model::register_well_known_label(label);
  }
  for (const auto label : kOfficialAlibabaLabels) {
    model::register_well_known_label(label);
  }
  model::register_restricted_domain("karpenter.k8s.alibabacloud");
  model::register_restricted_domain("karpenter.alibabacloud.com");
}

}  // namespace millwright::cloud::alibaba
