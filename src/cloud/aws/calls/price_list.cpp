#include "cloud/aws/calls/price_list.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <charconv>
#include <cmath>

namespace millwright::cloud::aws {
namespace {

namespace json = boost::json;

// The first member of an object: offers and dimensions have arbitrary keys.
const json::value* only_member(const json::value* value) {
  const auto* object = value == nullptr ? nullptr : value->if_object();
  return object == nullptr || object->empty() ? nullptr : &object->begin()->value();
}

std::optional<double> price_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(std::isfinite(value) && value > 0)) {
    return std::nullopt;
  }
  return value;
}

json::object product_filter(std::string_view field, std::string_view value) {
  return {{"Type", "TERM_MATCH"}, {"Field", field}, {"Value", value}};
}

// One page of one product family.
json::object price_query(std::string_view region, bool bare_metal, const std::string& token) {
  json::array filters{product_filter("regionCode", region),
                      product_filter("serviceCode", "AmazonEC2"),
                      product_filter("preInstalledSw", "NA"),
                      product_filter("operatingSystem", "Linux"),
                      product_filter("capacitystatus", "Used"),
                      product_filter("marketoption", "OnDemand"),
                      product_filter("tenancy", bare_metal ? "Dedicated" : "Shared"),
                      product_filter("productFamily", bare_metal ? "Compute Instance (bare metal)"
                                                                 : "Compute Instance")};
  json::object body{{"ServiceCode", "AmazonEC2"}, {"MaxResults", 100}};
  body["Filters"] = std::move(filters);
  if (!token.empty()) {
    body["NextToken"] = token;
  }
  return body;
}

void read_prices(const json::value& page, std::string_view currency, PriceTable& prices) {
  const auto* list = model::find_path(page, "PriceList");
  if (list == nullptr || !list->is_array()) {
    return;
  }
  for (const auto& product : list->get_array()) {
    if (product.is_string()) {
      if (const auto read = read_product(std::string_view(product.get_string()), currency)) {
        prices[read->instance_type] = read->price;
      }
    }
  }
}

}  // namespace

std::optional<ListPrice> read_product(std::string_view text, std::string_view currency) {
  const auto parsed = model::parse_json(text);
  if (!parsed) {
    return std::nullopt;
  }
  ListPrice result;
  if (const auto* attributes = model::find_path(*parsed, "product.attributes")) {
    result.instance_type = model::text_at(*attributes, "instanceType");
  }
  const auto* offer = only_member(model::find_path(*parsed, "terms.OnDemand"));
  const auto* dimensions = offer == nullptr ? nullptr : model::find_path(*offer, "priceDimensions");
  const auto* dimension = only_member(dimensions);
  const auto* unit = dimension == nullptr ? nullptr : model::find_path(*dimension, "pricePerUnit");
  const auto price = unit == nullptr ? std::nullopt : price_of(model::text_at(*unit, currency));
  if (result.instance_type.empty() || !price) {
    return std::nullopt;
  }
  result.price = *price;
  return result;
}

base::Task<ApiResult<PriceTable>> list_prices(Api& api) {
  const auto& region = api.endpoints().region();
  const std::string_view currency = api.endpoints().partition() == "aws-cn" ? "CNY" : "USD";
  PriceTable prices;
  for (int family = 0; family < 2; ++family) {
    const bool bare_metal = family == 1;
    std::string token;
    for (int page = 0; page < kMaxPages; ++page) {
      json::value body = price_query(region, bare_metal, token);
      MW_CO_TRY(answer, co_await api.json(Service::Pricing, "GetProducts", std::move(body)));
      read_prices(answer, currency, prices);
      const std::string next(model::text_at(answer, "NextToken"));
      if (next.empty() || next == token) {
        break;
      }
      token = next;
    }
  }
  co_return prices;
}

}  // namespace millwright::cloud::aws
