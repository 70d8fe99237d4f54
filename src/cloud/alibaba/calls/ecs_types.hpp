// What the answers of ECS and VPC describe, reduced to what the adapter needs: the values that
// calls/ecs.hpp reads.
#pragma once

#include "cloud/common/catalog/prices.hpp"
#include "millwright/base/time.hpp"
#include "millwright/model/labels.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::alibaba {

using Tags = model::StringMap;

struct VSwitch {
  std::string id;
  std::string zone;
  std::int64_t free_addresses = 0;
};

struct SecurityGroup {
  std::string id;
  std::string name;
};

struct Image {
  std::string id;
  std::string name;
  std::string arch;  // "amd64", "arm64"
  std::string created;
  std::string owner_id;  // number of the account; empty when not told
};

// A type of machine as DescribeInstanceTypes tells it.
struct TypeFacts {
  std::string name;    // "ecs.g7.large"
  std::string family;  // "ecs.g7"
  std::string arch;    // "amd64", "arm64"
  std::string cpu_model;
  std::int64_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::int64_t enis = 0;  // the primary one included
  std::int64_t addresses_per_eni = 0;
  std::int64_t total_enis = 0;  // trunk members included
  bool has_trunk = false;
  std::int64_t gpus = 0;
  std::string gpu;  // "NVIDIA T4"
  std::int64_t gpu_memory_mib = 0;
};

// Where each type is sold, and whether it is in stock there.
using StockByType = std::map<std::string, std::map<std::string, bool, std::less<>>, std::less<>>;

// What a type costs per hour where.
struct TypePrices {
  std::optional<double> on_demand;
  PriceTable spot;  // by zone
};

struct EcsInstance {
  std::string id;
  std::string type;
  std::string zone;
  std::string status;  // "Pending", "Starting", "Running", "Stopping", "Stopped"
  std::string image_id;
  std::string vswitch_id;
  std::string private_address;
  bool is_spot = false;
  bool is_recycling = false;                 // spot: about to be taken back
  std::vector<std::string> locks;            // why ECS locked it: "financial", "security"
  std::vector<std::string> security_groups;  // sorted
  Tags tags;
  std::optional<base::TimePoint> created_at;

  std::string_view capacity_type() const { return is_spot ? model::kSpot : model::kOnDemand; }
  // The value of a tag; empty when it has none of that key.
  std::string_view tag(std::string_view key) const {
    const auto found = tags.find(std::string(key));
    return found == tags.end() ? std::string_view() : std::string_view(found->second);
  }
};

// One result of an auto provisioning group: an instance, or why there is none.
struct GroupLaunch {
  std::vector<std::string> instance_ids;
  std::string type;
  std::string zone;
  bool is_spot = false;
  std::string error_code;
  std::string error_message;
};

}  // namespace millwright::cloud::alibaba
