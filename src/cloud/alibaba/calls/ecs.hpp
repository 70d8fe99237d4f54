// The operations of ECS and VPC as typed calls. Answers that are not as documented are errors
// (Unavailable). Of types, stock and prices an item that is not is left out, unless no item is as
// documented. Of all else it is not: an instance would look gone, and nodes would drift from the
// vSwitches, security groups and images that are left.
#pragma once

#include "cloud/alibaba/calls/api.hpp"
#include "cloud/alibaba/calls/ecs_types.hpp"
#include "cloud/alibaba/calls/wire/answer.hpp"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud::alibaba {

class Ecs {
 public:
  explicit Ecs(Api& api) : api_(api) {}

  base::Task<ApiResult<std::vector<TypeFacts>>> instance_types();
  // How many types the last list had that could not be read. They may well be sold.
  std::size_t unread_types() const { return unread_types_; }
  // Of what is sold on demand, or of spot.
  base::Task<ApiResult<StockByType>> stock(bool spot);
  // On-demand and spot prices of the last hours; of both what is known.
  base::Task<ApiResult<TypePrices>> spot_prices(std::string type);
  // With a system disk that the type takes. nullopt: the type has no price.
  base::Task<ApiResult<std::optional<double>>> on_demand_price(std::string type);

  // By id, or by tags whose value may be "*"; of ids that do not exist nothing is found.
  base::Task<ApiResult<std::vector<VSwitch>>> vswitches(std::string id, Tags tags);
  base::Task<ApiResult<std::vector<SecurityGroup>>> security_groups(Parameters filter);
  // Images that can be used now.
  base::Task<ApiResult<std::vector<Image>>> images(Parameters filter);

  base::Task<ApiResult<std::vector<EcsInstance>>> instances_by_id(std::vector<std::string> ids);
  base::Task<ApiResult<std::vector<EcsInstance>>> instances_by_tags(Tags tags);
  // At most 100. Conflict while one of them is starting.
  base::Task<ApiResult<>> delete_instances(std::vector<std::string> ids);

  // CreateAutoProvisioningGroup of type "instant": what became of each of its launches.
  base::Task<ApiResult<std::vector<GroupLaunch>>> create_group(Parameters parameters);
  // RunInstances, for one instance: its id.
  base::Task<ApiResult<std::string>> run_instance(Parameters parameters);

 private:
  // Reads one page.
  using OnPage = std::function<void(Answer& answer, const boost::json::value& page)>;
  // Follows NextToken.
  base::Task<ApiResult<>> pages(std::string action, Parameters parameters, OnPage on_page);
  // Follows PageNumber and TotalCount. `on_page` returns how many items the page had.
  using OnNumberedPage = std::function<std::size_t(Answer& answer, const boost::json::value& page)>;
  base::Task<ApiResult<>> numbered_pages(Service service, std::string action, Parameters parameters,
                                         OnNumberedPage on_page);
  base::Task<ApiResult<std::vector<EcsInstance>>> instances(Parameters filter);
  base::Task<ApiResult<std::optional<double>>> price_with_disk(std::string type,
                                                               std::string disk_category);
  base::Task<ApiResult<boost::json::value>> buy(std::string action, Parameters parameters);
  // An error when nothing but unreadable items was told. Else they are warned of, once.
  ApiResult<> accept(const std::string& action, const Unread& unread, bool read_nothing);

  Api& api_;
  std::size_t unread_types_ = 0;
  std::set<std::string> warned_of_;  // actions
};

// The readers of single items, for tests and fuzzing.
TypeFacts read_type(Answer& answer, const boost::json::value& item);
EcsInstance read_instance(Answer& answer, const boost::json::value& item);

}  // namespace millwright::cloud::alibaba
