// What EC2 instances cost per hour: list prices, spot prices per zone, and what is assumed when
// neither is known.
//
// An on-demand price is, in this order: the Pricing API's last answer; the operator's price file;
// and only while neither gave a single on-demand price, an estimate by vCPUs and memory, so that
// types are still ordered by size. Once a price list is known, a type that it lacks is not offered.
// A spot price is the zone's last known one or the price file's; without one there is no spot.
#pragma once

#include "cloud/aws/type_facts.hpp"
#include "millwright/base/result.hpp"

#include <boost/json/value.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud::aws {

using PriceTable = std::map<std::string, double, std::less<>>;
using SpotTable = std::map<std::string, PriceTable, std::less<>>;  // type, then zone

// The text of a price file: {"onDemand": {"m5.large": 0.096}, "spot": {"m5.large": {"us-west-2a":
// 0.03}}}. Invalid names `file` and the field.
struct PriceFile {
  PriceTable on_demand;
  SpotTable spot;
};
base::Result<PriceFile> parse_price_file(std::string_view text, std::string_view file);
// The same form, for keeping what was learned over a restart.
std::string write_price_file(const PriceFile& prices);

// One product of GetProducts (a JSON text of the price list): its type and hourly price.
struct ListPrice {
  std::string instance_type;
  double price = 0;
};
// `currency`: "USD", "CNY" in China. nullopt when it is another kind of product or has no price.
std::optional<ListPrice> read_product(std::string_view text, std::string_view currency);

class Prices {
 public:
  void set_file(PriceFile file) { file_ = std::move(file); }
  // Empty tables are ignored: an answer without prices must not hide the last known ones.
  void set_on_demand(PriceTable table);
  void set_spot(SpotTable table);

  std::optional<double> on_demand(const TypeFacts& type) const;
  std::optional<double> spot(std::string_view type, std::string_view zone) const;
  // Everything known now, for write_price_file().
  PriceFile known() const;
  // AWS's own last answers, for keeping over a restart; without the operator's file.
  PriceFile learned() const { return {on_demand_, spot_}; }

 private:
  PriceFile file_;
  PriceTable on_demand_;
  SpotTable spot_;
};

// US dollars per hour of a made-up machine of that size, near the general purpose families'.
double estimated_price(const TypeFacts& type);

}  // namespace millwright::cloud::aws
