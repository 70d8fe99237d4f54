// What instances cost per hour: list prices, spot prices per zone, and estimates. Loop thread only.
//
// On-demand prices come from the cloud's last answer, then from the operator's price file.
// While neither has a single price, they are estimated by vCPUs and memory, so that types are
// ordered by size. Once a price list is known, a type that is not in it is not offered. Spot prices
// are the zone's last known ones, then the price file's; without one the type has no spot offering.
#pragma once

#include "millwright/base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace millwright::cloud {

using PriceTable = std::map<std::string, double, std::less<>>;
using SpotTable = std::map<std::string, PriceTable, std::less<>>;  // type, then zone

// The text of a price file: {"onDemand": {"m5.large": 0.096}, "spot": {"m5.large": {"us-west-2a":
// 0.03}}}. Invalid names `file` and the field.
struct PriceFile {
  PriceTable on_demand;
  SpotTable spot;
};
base::Result<PriceFile> parse_price_file(std::string_view text, std::string_view file);
// The same form, to save what was learned for the next start.
std::string write_price_file(const PriceFile& prices);

class Prices {
 public:
  void set_file(PriceFile file) { file_ = std::move(file); }
  // Empty tables are ignored: an answer without prices must not hide the last known ones.
  void set_on_demand(PriceTable table);
  void set_spot(SpotTable table);

  // `estimate`: what serves while there is no price list at all.
  std::optional<double> on_demand(std::string_view type, double estimate) const;
  std::optional<double> spot(std::string_view type, std::string_view zone) const;
  // The cloud's own last answers, without the operator's file.
  PriceFile learned() const { return {on_demand_, spot_}; }

 private:
  PriceFile file_;
  PriceTable on_demand_;
  SpotTable spot_;
};

}  // namespace millwright::cloud
