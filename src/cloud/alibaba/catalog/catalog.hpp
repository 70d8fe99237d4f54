// The instance types of a region for one ECSNodeClass: labels, capacity, overhead and offerings,
// from the last answers of the region's APIs. Makes no calls. Loop thread only.
#pragma once

#include "cloud/alibaba/calls/ecs_types.hpp"
#include "cloud/alibaba/catalog/capacity.hpp"
#include "cloud/common/catalog/learned_memory.hpp"
#include "cloud/common/catalog/prices.hpp"
#include "cloud/common/catalog/unavailable.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud::alibaba {

class Catalog {
 public:
  Catalog(std::string region, CapacitySettings settings)
      : region_(std::move(region)), settings_(settings) {}

  // Empty answers are ignored: the last good ones are better.
  void set_types(std::vector<TypeFacts> types);
  // What is in stock now. A zone in which a type is sold out, or was sold before, stays one of the
  // type's, with nothing to buy: its nodes there must not look as if their type did not exist. True
  // when that changed something.
  bool set_stock(const StockByType& on_demand, const StockByType& spot);
  // Somewhere in the region, now or before, in stock or not.
  bool is_sold(std::string_view type) const { return zones_.contains(type); }
  // Of the whole cluster: Interfaces::Shared or ::Trunk.
  void set_network(Network network, Interfaces interfaces);
  Prices& prices() { return prices_; }
  UnavailableOfferings& unavailable() { return unavailable_; }
  // The class by its kind and name, for what counts for it alone, such as MarkScope::node_class.
  static std::string scope_name(const NodeClassSpec& spec);
  LearnedMemory& memory() { return memory_; }
  // What types() made before is out of date; calls back whoever called on_change().
  void changed();
  void on_change(std::function<void()> callback) { on_change_ = std::move(callback); }

  bool is_known() const { return !types_.empty() && !zones_.empty(); }
  const TypeFacts* find(std::string_view name) const;
  const std::vector<TypeFacts>& all() const { return types_; }
  const CapacitySettings& settings() const { return settings_; }
  const std::string& region() const { return region_; }

  // Sorted by name, of nodes that will have these labels: one of them gives each pod an interface.
  // Cached until the catalog or the NodeClass changes, or nobody asks for a day.
  scheduling::InstanceTypes types(const model::NodeClass& node_class,
                                  const model::StringMap& labels, base::TimePoint now);

 private:
  struct Market {
    bool on_demand = false;
    bool spot = false;
    friend bool operator==(const Market&, const Market&) = default;
  };
  using Markets = std::map<std::string, Market, std::less<>>;  // by zone
  struct NodeKind {
    NodeClassSpec spec;
    NodeClassFindings findings;
    CapacitySettings settings;
  };
  scheduling::InstanceType make(const TypeFacts& facts, const NodeKind& kind,
                                base::TimePoint now) const;
  void add_offerings(scheduling::InstanceType& type, const TypeFacts& facts, const NodeKind& kind,
                     base::TimePoint now) const;

  std::string region_;
  CapacitySettings settings_;
  std::vector<TypeFacts> types_;  // sorted by name
  std::map<std::string, Markets, std::less<>> zones_;
  Prices prices_;
  UnavailableOfferings unavailable_;
  LearnedMemory memory_;
  std::function<void()> on_change_;
  std::uint64_t version_ = 0;
  struct CachedTypes {
    std::string made_from;  // the NodeClass, and the version here
    scheduling::InstanceTypes types;
    base::TimePoint asked;  // last
  };
  std::map<std::pair<model::NodeClassReference, Interfaces>, CachedTypes> cached_;
};

}  // namespace millwright::cloud::alibaba
