// The flavors of a region as instance types for one NodeClass: labels, capacity, overhead and
// offerings, from the last answers of the region's APIs. Makes no calls. Loop thread only.
#pragma once

#include "cloud/common/catalog/learned_memory.hpp"
#include "cloud/common/catalog/prices.hpp"
#include "cloud/common/catalog/unavailable.hpp"
#include "cloud/huawei/catalog/flavor.hpp"
#include "cloud/huawei/node_class/node_class_spec.hpp"
#include "millwright/scheduling/instance_type.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {

class Catalog {
 public:
  static constexpr base::Duration kSoldOutFor = std::chrono::minutes(5);  // as Karpenter's

  // `spot`: flavors are offered as spot, too, where they are sold so.
  Catalog(std::string region, bool spot)
      : region_(std::move(region)), spot_(spot), unavailable_(kSoldOutFor) {}

  // Empty answers are ignored: the last good ones are better.
  void set_flavors(std::vector<Flavor> flavors);
  void set_zones(std::vector<std::string> zones);
  Prices& prices() { return prices_; }
  UnavailableOfferings& unavailable() { return unavailable_; }
  LearnedMemory& memory() { return memory_; }
  // What types() made before is out of date; calls back whoever called on_change().
  void changed();
  void on_change(std::function<void()> callback) { on_change_ = std::move(callback); }

  bool is_known() const { return !flavors_.empty() && !zones_.empty(); }
  const Flavor* find(std::string_view name) const;
  // Of the flavors that some zone sells, now or again later: nodes of one that is sold out have a
  // price, too.
  std::vector<std::string> names_on_sale() const;

  // Sorted by name. Cached until the catalog or the NodeClass changes, or nobody asks for a day.
  scheduling::InstanceTypes types(const model::NodeClass& node_class, base::TimePoint now);

 private:
  scheduling::InstanceType make(const Flavor& flavor, const NodeClassSpec& spec, bool has_subnet,
                                base::TimePoint now) const;

  std::string region_;
  bool spot_;
  std::vector<Flavor> flavors_;     // sorted by name
  std::vector<std::string> zones_;  // of the region
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
  std::map<model::NodeClassReference, CachedTypes> cached_;
};

// Registers Huawei Cloud's labels as well known: call it at start-up, before other threads run.
void register_labels();

}  // namespace millwright::cloud::huawei
