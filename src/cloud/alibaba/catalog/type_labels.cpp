#include "cloud/alibaba/catalog/type_labels.hpp"

#include "cloud/alibaba_labels.hpp"
#include "cloud/common/text/text.hpp"
#include "millwright/model/labels.hpp"

#include <algorithm>

namespace millwright::cloud::alibaba {
namespace {

using scheduling::Requirement;
using scheduling::Requirements;

constexpr std::string_view kLabelPrefix = "karpenter.k8s.alibabacloud/";
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
void set_label(Requirements& labels, std::string_view name, std::string value) {
  const auto key = std::string(kLabelPrefix).append(name);
  if (value.empty()) {
    labels.add(Requirement(key, model::Operator::DoesNotExist));
  } else {
    labels.add(Requirement::in(key, {std::move(value)}));
  }
}

std::string unless_zero(std::int64_t value) {
  return value == 0 ? std::string() : std::to_string(value);
}

// "NVIDIA T4" is a "T4" of "nvidia".
void add_gpu(Requirements& labels, const TypeFacts& type) {
  const bool has_gpu = type.gpus > 0;
  const std::string_view spec = has_gpu ? std::string_view(type.gpu) : std::string_view();
  const auto space = spec.find(' ');
  const auto name = space == std::string_view::npos ? spec : spec.substr(space + 1);
  const auto maker = space == std::string_view::npos ? std::string_view() : spec.substr(0, space);
  set_label(labels, "instance-gpu-name", lower_case(label_value(name)));
  set_label(labels, "instance-gpu-manufacturer", lower_case(label_value(maker)));
  set_label(labels, "instance-gpu-count", unless_zero(type.gpus));
  set_label(labels, "instance-gpu-memory", has_gpu ? unless_zero(type.gpu_memory_mib) : "");
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

Requirements labels_of(const TypeFacts& type, std::string_view node_class,
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
  pin(kNodeClassLabel, node_class);
  const auto parts = parts_of_name(type.name);
  set_label(labels, "instance-category", parts.category);
  set_label(labels, "instance-family", type.family);
  set_label(labels, "instance-generation", parts.generation);
  set_label(labels, "instance-size", parts.size);
  set_label(labels, "instance-cpu", std::to_string(type.cpus));
  set_label(labels, "instance-cpu-model", label_value(type.cpu_model));
  set_label(labels, "instance-memory", std::to_string(type.memory_mib));
  add_gpu(labels, type);
  return labels;
}

void register_labels() {
  for (const auto label : kAlibabaLabels) {
    model::register_well_known_label(label);
  }
  model::register_restricted_domain("karpenter.k8s.alibabacloud");
}

}  // namespace millwright::cloud::alibaba
