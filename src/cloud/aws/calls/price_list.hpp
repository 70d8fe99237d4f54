// On-demand prices as the Pricing API lists them.
#pragma once

#include "cloud/aws/calls/api.hpp"
#include "cloud/common/catalog/prices.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

// One product of GetProducts (a JSON text of the price list): its type and hourly price.
struct ListPrice {
  std::string instance_type;
  double price = 0;
};
// `currency`: "USD", "CNY" in China. nullopt when it is another kind of product or has no price.
std::optional<ListPrice> read_product(std::string_view text, std::string_view currency);

// The on-demand prices of the region: Linux, shared and bare metal.
base::Task<ApiResult<PriceTable>> list_prices(Api& api);

}  // namespace millwright::cloud::aws
