// What nodes cost per hour, by their labels and a catalog. Nodes are of few kinds, and looking a
// price up is slow: prices are remembered. One thread.
#pragma once

#include "millwright/scheduling/snapshot.hpp"

#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace millwright::telemetry {

// The catalog and the records that were asked about must outlive it.
class NodeCosts {
 public:
  explicit NodeCosts(const scheduling::Catalog& catalog) : catalog_(catalog) {}

  // nullopt without a claim, and when its labels name nothing that its NodePool may buy.
  std::optional<double> price_of(const scheduling::NodeRecord& record);

 private:
  // NodePool, instance type, zone, capacity type.
  using Kind = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

  const scheduling::Catalog& catalog_;
  std::map<Kind, std::optional<double>> prices_;
};

}  // namespace millwright::telemetry
