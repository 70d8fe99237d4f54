#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace millwright::cloud::simulated {

// One EC2 instance type. Zero means that AWS states no value.
struct Ec2Shape {
  std::string_view name;
  std::int64_t cpus;
  std::int64_t memory_mib;
  std::int64_t clock_mhz;
  std::int64_t enis;
  std::int64_t addresses;  // IPv4 addresses per ENI
  std::int64_t network_mbps;
  std::int64_t ebs_mbps;
  std::int64_t nvme_gb;
  double price;
};

std::span<const Ec2Shape> ec2_shapes();

}  // namespace millwright::cloud::simulated
