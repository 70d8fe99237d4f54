// EC2's operations as typed calls. One object per region; stateless but for the Api behind it.
#pragma once

#include "cloud/aws/api.hpp"
#include "cloud/aws/catalog.hpp"
#include "cloud/aws/interruption.hpp"
#include "cloud/aws/type_facts.hpp"

#include <functional>
#include <span>
#include <string>
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

struct Image {
  std::string id;
  std::string name;
  std::string arch;  // "amd64", "arm64"
  std::string created;
  bool deprecated = false;
  model::StringMap tags;
};

struct Reservation {
  ResolvedReservation what;
  std::int64_t available = 0;  // instances not in use
};

// What EC2 finds wrong with an instance, and since when, where it says that.
struct InstanceHealth {
  std::string instance;
  std::string zone;
  std::map<InterruptionKind, std::optional<base::TimePoint>> problems;
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
  std::string placement_group;               // id; empty: in none, or only its name is told
  std::string placement_group_name;          // likewise
  int partition = 0;                         // of the group; 0: it has none
  std::vector<std::string> security_groups;  // sorted
  model::StringMap tags;
  std::optional<base::TimePoint> launched_at;

  std::string_view capacity_type() const {
    return is_spot ? model::kSpot : !reservation_id.empty() ? model::kReserved : model::kOnDemand;
  }
  bool is_terminating() const { return state == "shutting-down" || state == "terminated"; }
};

// EC2 ends the instances of a capacity block half an hour before its end; ten minutes to drain.
inline constexpr base::Duration kBlockEndsEarly = std::chrono::minutes(40);

// The states of an instance that still matters to us.
std::span<const std::string> living_states();

class Ec2 {
 public:
  explicit Ec2(Api& api) : api_(api) {}

  base::Task<ApiResult<std::vector<TypeFacts>>> instance_types();
  base::Task<ApiResult<ZonesByType>> type_zones();
  base::Task<ApiResult<SpotTable>> spot_prices();
  base::Task<ApiResult<std::vector<Subnet>>> subnets(std::vector<Filter> filters);
  base::Task<ApiResult<std::vector<ResolvedGroup>>> security_groups(std::vector<Filter> filters);
  // `owners` empty: any.
  base::Task<ApiResult<std::vector<Image>>> images(std::vector<Filter> filters,
                                                   std::vector<std::string> owners);
  // Active ones. `ids` empty: whatever the filters find.
  base::Task<ApiResult<std::vector<Reservation>>> reservations(std::vector<Filter> filters,
                                                               std::vector<std::string> ids);
  base::Task<ApiResult<std::vector<Ec2Instance>>> instances(std::vector<Filter> filters);
  // NotFound names one id that is not there and hides the others: ask for fewer.
  base::Task<ApiResult<std::vector<Ec2Instance>>> instances_by_id(std::vector<std::string> ids);
  // Of the whole account: those that fail a check of EC2's, or for which it has planned an event.
  base::Task<ApiResult<std::vector<InstanceHealth>>> unhealthy_instances();
  base::Task<ApiResult<>> terminate(std::vector<std::string> ids);
  base::Task<ApiResult<>> create_tags(std::string resource, model::StringMap tags);

  // Launch templates, by name. Exists when there is one already.
  base::Task<ApiResult<>> create_launch_template(Form form);
  base::Task<ApiResult<std::vector<std::string>>> launch_templates(std::vector<Filter> filters);
  base::Task<ApiResult<>> delete_launch_template(std::string name);

  // CreateFleet; the root of its answer.
  base::Task<ApiResult<XmlNode>> create_fleet(Form form);
  // RunInstances; the root of its answer.
  base::Task<ApiResult<XmlNode>> run_instances(Form form);

 private:
  // Follows NextToken; `on_page` is called for each page's root element.
  using OnPage = std::function<void(const XmlNode&)>;
  base::Task<ApiResult<>> pages(Form form, OnPage on_page);
  base::Task<ApiResult<std::vector<Ec2Instance>>> described(Form form);

  Api& api_;
};

inline constexpr std::string_view kEc2Version = "2016-11-15";
Ec2Instance read_instance(const XmlNode& item);

}  // namespace millwright::cloud::aws
