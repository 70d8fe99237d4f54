// What the adapter asks Huawei Cloud, in typed form. An item of an answer that lacks what every
// such item has is left out; an answer without its list at all is an error, so that nothing is
// taken for gone. Loop thread only.
#pragma once

#include "cloud/common/catalog/prices.hpp"
#include "cloud/huawei/calls/api.hpp"
#include "cloud/huawei/catalog/flavor.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {

struct Subnet {
  std::string id;
  std::string name;
  std::int64_t free_addresses = 0;
  friend bool operator==(const Subnet&, const Subnet&) = default;
};

// ECS: every flavor of the region, and its zones.
base::Task<ApiResult<std::vector<Flavor>>> list_flavors(Api& api);
base::Task<ApiResult<std::vector<std::string>>> list_zones(Api& api);
// VPC: every subnet of the project.
base::Task<ApiResult<std::vector<Subnet>>> list_subnets(Api& api);
struct ListedPrices {
  PriceTable prices;
  // What BSS would not price, though it does not say that it is not sold, and why of the first.
  std::vector<std::string> refused;
  std::string refusal;
};
// BSS: what an hour of each flavor costs on demand, with Linux. A flavor that is not for sale in
// the region has no price. Refusals of all that was asked are an error, the first.
base::Task<ApiResult<ListedPrices>> list_prices(Api& api, std::vector<std::string> flavors);

// The product that BSS says that it cannot find; empty when it says something else.
std::string missing_product(const ApiError& error);

}  // namespace millwright::cloud::huawei
