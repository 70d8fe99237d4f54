#include "cloud/common/catalog/prices.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <cmath>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using base::ErrorKind;

bool is_price(double value) {
  return std::isfinite(value) && value > 0;
}

base::Result<PriceTable> read_table(const json::value& table, const std::string& where) {
  const auto* object = table.if_object();
  if (object == nullptr) {
    return base::fail(ErrorKind::Invalid, where + ": expected an object");
  }
  PriceTable result;
  for (const auto& [name, value] : *object) {
    const double price = value.is_number() ? value.to_number<double>() : 0;
    if (!is_price(price)) {
      return base::fail(ErrorKind::Invalid,
                        where + "." + std::string(name) + ": expected a price above zero");
    }
    result.emplace(name, price);
  }
  return result;
}

json::object to_json(const PriceTable& table) {
  json::object result;
  for (const auto& [name, price] : table) {
    result[name] = price;
  }
  return result;
}

}  // namespace

base::Result<PriceFile> parse_price_file(std::string_view text, std::string_view file) {
  const std::string name(file);
  auto parsed = model::parse_json(text);
  if (!parsed) {
    return base::with_context(name, std::move(parsed).error());
  }
  const auto* root = parsed->if_object();
  if (root == nullptr) {
    return base::fail(ErrorKind::Invalid, name + ": expected an object");
  }
  PriceFile prices;
  for (const auto& [key, value] : *root) {
    if (key == "onDemand") {
      MW_TRY(table, read_table(value, name + ": onDemand"));
      prices.on_demand = std::move(table);
    } else if (key == "spot" && value.is_object()) {
      for (const auto& [type, zones] : value.get_object()) {
        MW_TRY(table, read_table(zones, name + ": spot." + std::string(type)));
        prices.spot.emplace(type, std::move(table));
      }
    } else {
      return base::fail(ErrorKind::Invalid, name + ": " + std::string(key) +
                                                ": expected the objects onDemand and spot");
    }
  }
  return prices;
}

std::string write_price_file(const PriceFile& prices) {
  json::object spot;
  for (const auto& [type, zones] : prices.spot) {
    spot[type] = to_json(zones);
  }
  json::object root;
  root["onDemand"] = to_json(prices.on_demand);
  root["spot"] = std::move(spot);
  return json::serialize(root);
}

void Prices::set_on_demand(PriceTable table) {
  if (!table.empty()) {
    on_demand_ = std::move(table);
  }
}

void Prices::set_spot(SpotTable table) {
  if (!table.empty()) {
    spot_ = std::move(table);
  }
}

std::optional<double> Prices::on_demand(std::string_view type, double estimate) const {
  for (const auto* table : {&on_demand_, &file_.on_demand}) {
    if (const auto found = table->find(type); found != table->end()) {
      return found->second;
    }
  }
  if (on_demand_.empty() && file_.on_demand.empty()) {
    return estimate;
  }
  return std::nullopt;
}

std::optional<double> Prices::spot(std::string_view type, std::string_view zone) const {
  for (const auto* table : {&spot_, &file_.spot}) {
    if (const auto zones = table->find(type); zones != table->end()) {
      if (const auto found = zones->second.find(zone); found != zones->second.end()) {
        return found->second;
      }
    }
  }
  return std::nullopt;
}

}  // namespace millwright::cloud
