// One EC2 instance type as DescribeInstanceTypes describes it, reduced to what labels, capacity and
// launches need.
#pragma once

#include "cloud/aws/calls/wire/xml.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

struct Accelerator {
  std::string name;          // "A100"
  std::string manufacturer;  // "NVIDIA"
  std::int64_t count = 0;
  std::int64_t memory_mib = 0;  // of one
  std::int64_t cores = 0;       // Neuron cores of one
};

struct TypeFacts {
  std::string name;  // "m5.large"
  std::string arch;  // "amd64", "arm64"
  std::string cpu_manufacturer;
  std::string hypervisor;  // empty for bare metal
  std::int64_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::optional<std::int64_t> clock_mhz;
  std::optional<std::int64_t> ebs_mbps;
  // The root volume is one of them. Where EC2 shares them with network interfaces and local disks,
  // those that every instance of the type has are taken off.
  std::optional<std::int64_t> ebs_attachments;
  std::optional<std::int64_t> network_mbps;  // baseline, all cards together
  std::int64_t nvme_gb = 0;                  // 0: no local NVMe
  std::int64_t interfaces = 0;               // ENIs of the default network card
  std::int64_t addresses = 0;                // IPv4 per ENI
  std::int64_t efa_interfaces = 0;
  bool bare_metal = false;
  bool encrypts_in_transit = false;
  bool has_spot = false;
  bool has_on_demand = false;
  std::vector<std::string> placement_strategies;  // of placement groups; empty: not told
  std::vector<Accelerator> gpus;
  std::vector<Accelerator> inference;  // what AWS lists as inference accelerators
  std::vector<Accelerator> neuron;     // Inferentia and Trainium
};

// By instance type: the zones that sell it.
using ZonesByType = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// nullopt for an item without what every type has (name, a known architecture, vCPUs, memory).
std::optional<TypeFacts> read_type(const XmlNode& item);

}  // namespace millwright::cloud::aws
