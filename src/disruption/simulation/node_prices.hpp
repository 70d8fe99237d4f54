// What the nodes of a cluster cost per hour.
#pragma once

#include "millwright/disruption/decide.hpp"
#include "millwright/disruption/preferences.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace millwright::disruption {

// The label's value, or an empty string.
const std::string& label_of(const model::StringMap& labels, std::string_view key);

class NodePrices {
 public:
  explicit NodePrices(const Input& input) : input_(input) {}

  // nullopt when its labels name no offering among the types.
  std::optional<double> price_of(const scheduling::InstanceTypes& types,
                                 const scheduling::NodeRecord& record) const;

  // Per hour: what a node of a pool with these preferences costs beside its instance.
  double overhead_of(const Preferences& preferences) const;

  // Price and disruption of a whole pool, for the Balanced policy.
  struct PoolTotal {
    double price = 0;
    double disruption = 0;
  };
  PoolTotal total_of(const model::NodePool& pool) const;

 private:
  const Input& input_;
  // Thousands of nodes are of few kinds, so prices are remembered by type list, instance type, zone
  // and capacity type.
  using Key = std::tuple<const void*, std::string_view, std::string_view, std::string_view>;
  mutable std::map<Key, std::optional<double>> prices_;
};

}  // namespace millwright::disruption
