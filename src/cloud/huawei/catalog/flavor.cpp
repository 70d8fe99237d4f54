#include "cloud/huawei/catalog/flavor.hpp"

#include "cloud/common/text/text.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;
using model::member;

constexpr std::array<std::string_view, 3> kSold{"normal", "promotion", "obt"};
constexpr std::string_view kAbandoned = "abandon";
constexpr std::int64_t kMostCpus = 4096;
constexpr std::int64_t kMostMemoryMib = 256LL * 1024 * 1024;  // 256 TiB

// Numbers come as numbers and as text.
std::optional<std::int64_t> whole_number(const json::value* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->is_int64()) {
    return value->get_int64();
  }
  const auto text = model::as_text(value);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// "sellout" and "obt_sellout" pass, and so may a word that is not known: nodes of such a flavor are
// not replaced for it.
Sale sale_by(std::string_view status) {
  if (status.empty() || std::find(kSold.begin(), kSold.end(), status) != kSold.end()) {
    return Sale::Open;
  }
  return status == kAbandoned ? Sale::None : Sale::SoldOut;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string_view arch_of(std::string_view told) {
  if (told.starts_with("arm")) {
    return "arm64";
  }
  return told.empty() || told.starts_with("x86") || told == "amd64" ? "amd64" : "";
}

// "nvidia-t4:direct:2"
void read_gpus(const json::value& extras, Flavor& flavor) {
  const auto parts = split(model::as_text(member(extras, "pci_passthrough:gpu_specs")), ':');
  if (parts.size() != 3) {
    return;
  }
  std::int64_t count = 0;
  const auto text = trimmed(parts[2]);
  std::from_chars(text.data(), text.data() + text.size(), count);
  if (count > 0) {
    const auto told = model::as_text(member(extras, "info:gpu:name"));
    flavor.gpus = count;
    flavor.gpu_name = trimmed(told.empty() ? parts[0] : told);
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

SaleByZone read_sale_zones(std::string_view text) {
  std::string plain(text);
  replace_all(plain, "\uff08", "(");
  replace_all(plain, "\uff09", ")");
  replace_all(plain, "\uff0c", ",");
  SaleByZone zones;
  for (const auto each : split(plain, ',')) {
    const auto open = each.find('(');
    const auto close = each.find(')', open == std::string_view::npos ? 0 : open);
    const auto zone = trimmed(each.substr(0, open));
    if (open == std::string_view::npos || close == std::string_view::npos || zone.empty()) {
      continue;
    }
    zones[std::string(zone)] = sale_by(trimmed(each.substr(open + 1, close - open - 1)));
  }
  return zones;
}

std::optional<Flavor> read_flavor(const json::value& item) {
  static const json::value no_extras;
  Flavor flavor;
  flavor.name = model::as_text(member(item, "name"));
  const auto cpus = whole_number(member(item, "vcpus"));
  const auto memory = whole_number(member(item, "ram"));
  if (flavor.name.empty() || !cpus || *cpus < 1 || *cpus > kMostCpus || !memory || *memory < 1 ||
      *memory > kMostMemoryMib) {
    return std::nullopt;
  }
  flavor.cpus = *cpus;
  flavor.memory_mib = *memory;
  const auto* found = member(item, "os_extra_specs");
  const auto& extras = found == nullptr ? no_extras : *found;
  const auto extra = [&extras](std::string_view key) {
    return model::as_text(member(extras, key));
  };
  flavor.arch = arch_of(extra("ecs:instance_architecture"));
  if (flavor.arch.empty()) {
    return std::nullopt;
  }
  const auto rate = whole_number(member(extras, "quota:max_rate"));
  if (rate && *rate > 0) {
    flavor.bandwidth_mbps = rate;
  }
  flavor.sub_interfaces =
      whole_number(member(extras, "quota:sub_network_interface_max_num")).value_or(0);
  flavor.sale = sale_by(extra("cond:operation:status"));
  flavor.sale_zones = read_sale_zones(extra("cond:operation:az"));
  const auto spot = extra("cond:spot:operation:status");
  flavor.spot_sale = spot.empty() ? Sale::None : sale_by(spot);
  flavor.spot_zones = read_sale_zones(extra("cond:spot:operation:az"));
  read_gpus(extras, flavor);
  return flavor;
}

SaleByZone sale_of(const Flavor& flavor, std::span<const std::string> region) {
  SaleByZone zones = flavor.sale_zones;
  for (const auto& zone : region) {
    zones.emplace(zone, flavor.sale);
  }
  std::erase_if(zones, [](const auto& each) { return each.second == Sale::None; });
  return zones;
}

SaleByZone spot_sale_of(const Flavor& flavor, std::span<const std::string> region) {
  auto zones = sale_of(flavor, region);
  for (auto& [zone, sale] : zones) {
    const auto said = flavor.spot_zones.find(zone);
    sale = std::min(sale, said == flavor.spot_zones.end() ? flavor.spot_sale : said->second);
  }
  std::erase_if(zones, [](const auto& each) { return each.second == Sale::None; });
  return zones;
}

FlavorName parts_of_name(std::string_view name) {
  FlavorName parts;
  const auto dot = name.find('.');
  parts.family = name.substr(0, dot);
  if (dot != std::string_view::npos) {
    parts.size = name.substr(dot + 1);
  }
  const auto first = std::find_if(parts.family.begin(), parts.family.end(), is_digit);
  const auto last = std::find_if_not(first, parts.family.end(), is_digit);
  parts.category.assign(parts.family.begin(), first);
  parts.generation.assign(first, last);
  return parts;
}

}  // namespace millwright::cloud::huawei
