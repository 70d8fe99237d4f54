// What EC2's answers describe, reduced to what the adapter needs: the values that calls/ec2.hpp
// reads.
#pragma once

#include "millwright/base/time.hpp"
#include "millwright/model/labels.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::aws {

struct Filter {
  std::string name;
  std::vector<std::string> values;
};

struct Subnet {
  std::string id;
  std::string zone;
  std::string zone_id;
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
  bool deprecated = false;
  model::StringMap tags;
};

struct CapacityReservation {
  std::string id;
  std::string type;  // of instance
  std::string zone;
  std::string owner;
  std::string match_criteria;
  std::string kind = "default";  // or "capacity-block"
  std::string end_time;          // RFC 3339; empty: it has none
  bool expiring = false;         // a capacity block that EC2 is about to end
  bool interruptible = false;
  bool is_block() const { return kind == "capacity-block"; }
};
// EC2 ends the instances of a capacity block half an hour before its end; ten minutes to drain.
inline constexpr base::Duration kBlockEndsEarly = std::chrono::minutes(40);

struct CountedReservation {
  CapacityReservation reservation;
  std::int64_t available = 0;  // instances not in use
};

struct Ec2Instance {
  std::string id;
  std::string type;
  std::string zone;
  std::string state;  // "pending", "running", ...
  std::string image_id;
  std::string subnet_id;
  std::string private_dns_name;
  bool is_spot = false;
  std::string reservation_id;  // the capacity reservation that it was launched into
  std::string tenancy;
  std::string placement_group;               // id; empty: in none, or only its name is known
  std::string placement_group_name;          // likewise
  int partition = 0;                         // of the placement group; 0: it has none
  std::vector<std::string> security_groups;  // sorted
  model::StringMap tags;
  std::optional<base::TimePoint> launched_at;

  std::string_view capacity_type() const {
    return is_spot ? model::kSpot : !reservation_id.empty() ? model::kReserved : model::kOnDemand;
  }
  bool is_terminating() const { return state == "shutting-down" || state == "terminated"; }
  // The value of a tag; empty when it has none of that key.
  std::string_view tag(std::string_view key) const {
    const auto found = tags.find(key);
    return found == tags.end() ? std::string_view() : std::string_view(found->second);
  }
};

}  // namespace millwright::cloud::aws
