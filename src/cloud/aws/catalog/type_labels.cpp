#include "cloud/aws/catalog/type_labels.hpp"

#include "cloud/aws/launch/ami_family.hpp"
#include "cloud/aws_labels.hpp"

#include <algorithm>
#include <array>

namespace millwright::cloud::aws {
namespace {

using scheduling::Requirement;
using scheduling::Requirements;

constexpr std::string_view kPrefix = "karpenter.k8s.aws/";

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "Radeon Pro V520" to "radeon-pro-v520".
std::string kebab(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c == ' ' ? '-' : c;
    }
  }
  return out;
}

class Builder {
 public:
  // An empty value: the label does not apply.
  void set(std::string_view name, std::string value) {
    const auto key = std::string(kPrefix).append(name);
    if (value.empty()) {
      requirements.add(Requirement(key, model::Operator::DoesNotExist));
    } else {
      requirements.add(Requirement::in(key, {std::move(value)}));
    }
  }
  void set(std::string_view name, std::optional<std::int64_t> value) {
    set(name, value ? std::to_string(*value) : std::string());
  }
  void set(std::string_view name, bool value) { set(name, std::string(value ? "true" : "false")); }
  Requirements requirements;
};

std::optional<std::int64_t> unless_zero(std::int64_t value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

void add_machine(Builder& labels, const TypeFacts& type) {
  const auto name = parts_of_name(type.name);
  labels.set("instance-category", name.category);
  labels.set("instance-family", name.family);
  labels.set("instance-generation", name.generation);
  labels.set("instance-size", name.size);
  labels.set("instance-capability-flex", name.family.find("-flex") != std::string::npos);
  labels.set("instance-cpu", std::optional(type.cpus));
  labels.set("instance-cpu-manufacturer", kebab(type.cpu_manufacturer));
  labels.set("instance-cpu-sustained-clock-speed-mhz", type.clock_mhz);
  labels.set("instance-memory", std::optional(type.memory_mib));
  labels.set("instance-ebs-bandwidth", type.ebs_mbps);
  labels.set("instance-network-bandwidth", type.network_mbps);
  labels.set("instance-hypervisor", type.hypervisor);
  labels.set("instance-encryption-in-transit-supported", type.encrypts_in_transit);
  labels.set("instance-local-nvme", unless_zero(type.nvme_gb));
}

// Karpenter labels a type's GPUs and accelerators only when it has one kind of them.
void add_accelerators(Builder& labels, const TypeFacts& type) {
  const Accelerator none;
  const auto& gpu = type.gpus.size() == 1 ? type.gpus.front() : none;
  labels.set("instance-gpu-name", kebab(gpu.name));
  labels.set("instance-gpu-manufacturer", kebab(gpu.manufacturer));
  labels.set("instance-gpu-count", unless_zero(gpu.count));
  labels.set("instance-gpu-memory", unless_zero(gpu.memory_mib));
  auto accelerator = none;
  if (type.inference.size() == 1) {
    accelerator = type.inference.front();
  } else if (type.neuron.size() == 1) {
    accelerator = type.neuron.front();
    accelerator.manufacturer = "aws";  // neuronInfo does not say it
  }
  labels.set("instance-accelerator-name", kebab(accelerator.name));
  labels.set("instance-accelerator-manufacturer", kebab(accelerator.manufacturer));
  labels.set("instance-accelerator-count", unless_zero(accelerator.count));
}

}  // namespace

NameParts parts_of_name(std::string_view name) {
  NameParts parts;
  const auto dot = name.find('.');
  parts.family = name.substr(0, dot);
  if (dot != std::string_view::npos) {
    parts.size = name.substr(dot + 1);
  }
  // (^[a-z]+)(\-[0-9]+tb)?([0-9]+).*\.
  const std::string_view family = parts.family;
  const auto first = std::find_if_not(family.begin(), family.end(), is_lower);
  auto rest = family.substr(static_cast<std::size_t>(first - family.begin()));
  const auto digits = [](std::string_view text) {
    return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) -
                                    text.begin());
  };
  if (rest.starts_with('-')) {
    const auto count = digits(rest.substr(1));
    if (count == 0 || !rest.substr(1 + count).starts_with("tb")) {
      return parts;
    }
    rest.remove_prefix(1 + count + 2);
  }
  const auto generation = rest.substr(0, digits(rest));
  if (first != family.begin() && !generation.empty() && dot != std::string_view::npos) {
    parts.category.assign(family.begin(), first);
    parts.generation = generation;
  }
  return parts;
}

Requirements labels_of(const TypeFacts& type, const NodeClassSpec& spec, std::string_view region) {
  Builder labels;
  auto& requirements = labels.requirements;
  const auto pin = [&requirements](std::string_view key, std::string_view value) {
    requirements.add(Requirement::in(key, {std::string(value)}));
  };
  pin(model::kInstanceTypeLabel, type.name);
  pin(model::kArchLabel, type.arch);
  pin(model::kOsLabel, os_of(spec.family));
  pin(model::kRegionLabel, region);
  if (const auto build = windows_build(spec.family); !build.empty()) {
    pin(model::kWindowsBuildLabel, build);
  } else {
    requirements.add(Requirement(model::kWindowsBuildLabel, model::Operator::DoesNotExist));
  }
  pin(kNodeClassLabel, spec.name);
  add_machine(labels, type);
  add_accelerators(labels, type);
  requirements.add(Requirement::in(kTenancyLabel, {"dedicated", "default"}));
  for (const std::string_view name : {"capacity-reservation-id", "capacity-reservation-type",
                                      "capacity-reservation-interruptible", "placement-group-id",
                                      "placement-group-partition", "nitro-sandbox"}) {
    labels.set(name, std::string());
  }
  return requirements;
}

std::span<const std::string_view> well_known_labels() {
  return kAwsLabels;
}

void register_labels() {
  for (const auto label : well_known_labels()) {
    model::register_well_known_label(label);
  }
  model::register_restricted_domain("karpenter.k8s.aws");
}

}  // namespace millwright::cloud::aws
