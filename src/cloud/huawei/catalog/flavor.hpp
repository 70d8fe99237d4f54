// One flavor (instance type) as ECS's list of flavors describes it, reduced to what labels,
// capacity and launches need. Pure.
#pragma once

#include <boost/json/value.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::cloud::huawei {

// What its status says of a flavor: what is sold out comes back, what is abandoned does not.
enum class Sale : std::uint8_t { None, SoldOut, Open };
using SaleByZone = std::map<std::string, Sale, std::less<>>;

struct Flavor {
  std::string name;  // "c9.large.4"
  std::string arch;  // "amd64", "arm64"
  std::int64_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::optional<std::int64_t> bandwidth_mbps;  // the most
  std::int64_t sub_interfaces = 0;             // that it can have for pods; 0: not told
  std::string gpu_name;                        // empty: none
  std::int64_t gpus = 0;
  Sale sale = Sale::Open;  // where no zone says otherwise
  SaleByZone sale_zones;   // what zones say
  // The same of spot, which is not sold where nothing is said.
  Sale spot_sale = Sale::None;
  SaleByZone spot_zones;
};

// nullopt for an item without what every flavor has (name, vCPUs and memory within reason).
std::optional<Flavor> read_flavor(const boost::json::value& item);

// From "az1(status),az2(status)" as the key cond:operation:az has it. Full-width brackets and
// commas, which occur, count as plain ones.
SaleByZone read_sale_zones(std::string_view text);

// The zones that sell it, now or again later: of `region`, and those that the flavor itself names.
SaleByZone sale_of(const Flavor& flavor, std::span<const std::string> region);
// Likewise those that sell it as spot, too, which no zone does where the flavor is sold out.
SaleByZone spot_sale_of(const Flavor& flavor, std::span<const std::string> region);

// "c9.large.4": family c9, category c, generation 9, size large.4. Parts that the name lacks are
// empty.
struct FlavorName {
  std::string category;
  std::string generation;
  std::string family;
  std::string size;
};
FlavorName parts_of_name(std::string_view name);

}  // namespace millwright::cloud::huawei
