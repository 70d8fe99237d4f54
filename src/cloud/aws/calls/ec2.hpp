// EC2's operations as typed calls. Has no state but the Api behind it.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/aws/calls/ec2_types.hpp"
#include "cloud/aws/calls/price_list.hpp"
#include "cloud/aws/calls/type_facts.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

// The states of an instance that has not ended yet.
std::span<const std::string> living_states();

class Ec2 {
 public:
  explicit Ec2(Api& api) : api_(api) {}

  base::Task<ApiResult<std::vector<TypeFacts>>> instance_types();
  base::Task<ApiResult<ZonesByType>> type_zones();
  base::Task<ApiResult<SpotTable>> spot_prices();
  base::Task<ApiResult<std::vector<Subnet>>> subnets(std::vector<Filter> filters);
  base::Task<ApiResult<std::vector<SecurityGroup>>> security_groups(std::vector<Filter> filters);
  // `owners` empty: any.
  base::Task<ApiResult<std::vector<Image>>> images(std::vector<Filter> filters,
                                                   std::vector<std::string> owners);
  // Active ones only. `ids` empty: all that the filters find.
  base::Task<ApiResult<std::vector<CountedReservation>>> reservations(std::vector<Filter> filters,
                                                                      std::vector<std::string> ids);
  base::Task<ApiResult<std::vector<Ec2Instance>>> instances(std::vector<Filter> filters);
  // NotFound when one of the ids does not exist; then nothing is known of the others.
  base::Task<ApiResult<std::vector<Ec2Instance>>> instances_by_id(std::vector<std::string> ids);
  base::Task<ApiResult<>> terminate(std::vector<std::string> ids);
  base::Task<ApiResult<>> create_tags(std::string resource, model::StringMap tags);

  // Launch templates by name. Exists when there is one of that name.
  base::Task<ApiResult<>> create_launch_template(Form form);
  base::Task<ApiResult<std::vector<std::string>>> launch_templates(std::vector<Filter> filters);
  base::Task<ApiResult<>> delete_launch_template(std::string name);

  // CreateFleet; the root of its answer.
  base::Task<ApiResult<XmlNode>> create_fleet(Form form);
  // RunInstances; the root of its answer.
  base::Task<ApiResult<XmlNode>> run_instances(Form form);

  // Any other operation with pages: follows NextToken and calls `on_page` with the root element of
  // each.
  using OnPage = std::function<void(const XmlNode&)>;
  base::Task<ApiResult<>> pages(Form form, OnPage on_page);

 private:
  base::Task<ApiResult<>> call(Form form);  // ignores the answer
  base::Task<ApiResult<std::vector<Ec2Instance>>> described(Form form);

  Api& api_;
};

inline constexpr std::string_view kEc2Version = "2016-11-15";
Ec2Instance read_instance(const XmlNode& item);

}  // namespace millwright::cloud::aws
