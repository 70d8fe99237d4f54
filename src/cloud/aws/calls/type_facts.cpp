#include "cloud/aws/calls/type_facts.hpp"

#include <algorithm>
#include <cmath>

namespace millwright::cloud::aws {
namespace {

std::optional<std::int64_t> thousands(std::optional<double> value) {
  if (!value || *value < 0 || *value > 1e9) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(std::llround(*value * 1000));
}

bool contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::vector<Accelerator> read_accelerators(const XmlNode& info, std::string_view list) {
  std::vector<Accelerator> result;
  for (const auto& item : info.items(list)) {
    result.push_back({.name = item.text_of("name"),
                      .manufacturer = item.text_of("manufacturer"),
                      .count = item.integer_of("count").value_or(0),
                      .memory_mib = item.child("memoryInfo").integer_of("sizeInMiB").value_or(0),
                      .cores = item.child("coreInfo").integer_of("count").value_or(0)});
  }
  return result;
}

void read_network(const XmlNode& network, TypeFacts& facts) {
  facts.addresses = network.integer_of("ipv4AddressesPerInterface").value_or(0);
  facts.interfaces = network.integer_of("maximumNetworkInterfaces").value_or(0);
  facts.encrypts_in_transit = network.is_true("encryptionInTransitSupported");
  facts.efa_interfaces = network.child("efaInfo").integer_of("maximumEfaInterfaces").value_or(0);
  const auto default_card = network.integer_of("defaultNetworkCardIndex").value_or(0);
  std::int64_t baseline = 0;
  for (const auto& card : network.items("networkCards")) {
    baseline += thousands(card.decimal_of("baselineBandwidthInGbps")).value_or(0);
    if (card.integer_of("networkCardIndex") == default_card) {
      facts.interfaces = card.integer_of("maximumNetworkInterfaces").value_or(facts.interfaces);
    }
  }
  if (baseline > 0) {
    facts.network_mbps = baseline;
  }
}

}  // namespace

std::optional<TypeFacts> read_type(const XmlNode& item) {
  TypeFacts facts;
  facts.name = item.text_of("instanceType");
  const auto& processor = item.child("processorInfo");
  const auto architectures = processor.texts("supportedArchitectures");
  if (contains(architectures, "arm64")) {
    facts.arch = "arm64";
  } else if (contains(architectures, "x86_64")) {
    facts.arch = "amd64";
  }
  facts.cpus = item.child("vCpuInfo").integer_of("defaultVCpus").value_or(0);
  facts.memory_mib = item.child("memoryInfo").integer_of("sizeInMiB").value_or(0);
  const bool sane = facts.cpus > 0 && facts.cpus < 100'000 && facts.memory_mib > 0 &&
                    facts.memory_mib < (std::int64_t{1} << 32U);
  if (facts.name.find('.') == std::string::npos || facts.arch.empty() || !sane) {
    return std::nullopt;
  }
  facts.cpu_manufacturer = processor.text_of("manufacturer");
  facts.clock_mhz = thousands(processor.decimal_of("sustainedClockSpeedInGhz"));
  facts.hypervisor = item.text_of("hypervisor");
  facts.bare_metal = item.is_true("bareMetal");
  facts.ebs_mbps =
      item.child("ebsInfo").child("ebsOptimizedInfo").integer_of("maximumBandwidthInMbps");
  facts.ebs_attachments = item.child("ebsInfo").integer_of("maximumEbsAttachments");
  const auto& storage = item.child("instanceStorageInfo");
  if (const auto& nvme = storage.text_of("nvmeSupport"); !nvme.empty() && nvme != "unsupported") {
    facts.nvme_gb = storage.integer_of("totalSizeInGB").value_or(0);
  }
  read_network(item.child("networkInfo"), facts);
  const auto usage = item.texts("supportedUsageClasses");
  facts.has_spot = contains(usage, "spot");
  facts.has_on_demand = contains(usage, "on-demand");
  facts.placement_strategies = item.child("placementGroupInfo").texts("supportedStrategies");
  facts.gpus = read_accelerators(item.child("gpuInfo"), "gpus");
  facts.inference = read_accelerators(item.child("inferenceAcceleratorInfo"), "accelerators");
  facts.neuron = read_accelerators(item.child("neuronInfo"), "neuronDevices");
  return facts;
}

}  // namespace millwright::cloud::aws
