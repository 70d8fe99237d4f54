#include "cloud/huawei/calls/operations.hpp"

#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

namespace millwright::cloud::huawei {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using model::member;
using model::text_at;

constexpr std::size_t kFlavorsPerPage = 1000;
constexpr std::size_t kSubnetsPerPage = 500;
constexpr std::size_t kProductsPerCall = 100;
constexpr int kHourMeasure = 4;
// Batches that are asked again in halves, of one list of prices: enough for seven flavors or so
// that BSS refuses, and no flood of questions where it refuses all.
constexpr int kMostHalved = 50;

ApiError no_list(std::string_view call, std::string_view list) {
  ApiError error;
  error.kind = ErrorKind::Unavailable;
  error.message = std::string(call).append(": the answer has no list ").append(list);
  return error;
}

const json::array* list_in(const json::value& answer, std::string_view name) {
  const auto* found = member(answer, name);
  return found == nullptr ? nullptr : found->if_array();
}

// A number, or text that is one.
double price_in(const json::value* value) {
  double price = 0;
  if (value != nullptr && value->is_number()) {
    price = value->to_number<double>();
  } else {
    const auto text = model::as_text(value);
    std::from_chars(text.data(), text.data() + text.size(), price);
  }
  return std::isfinite(price) && price > 0 ? price : 0;
}

// Where a list is read, page after page.
struct Pages {
  Service service = Service::Ecs;
  std::string operation;
  std::string path;  // without a query
  std::string list;
  std::size_t limit = 0;
};

// Every item of every page. The last item's id is the next page's marker.
base::Task<ApiResult<std::vector<json::value>>> read_pages(Api& api, Pages pages) {
  std::vector<json::value> items;
  std::string marker;
  for (int page = 0; page < kMaxPages; ++page) {
    Call call;
    call.service = pages.service;
    call.operation = pages.operation;
    call.path = pages.path + "?limit=" + std::to_string(pages.limit);
    if (!marker.empty()) {
      call.path.append("&marker=").append(net::url_encode(marker));
    }
    MW_CO_TRY(answer, co_await api.send(std::move(call)));
    const auto* list = list_in(answer, pages.list);
    if (list == nullptr) {
      const auto name = std::string(to_string(pages.service)) + " " + pages.operation;
      co_return tl::unexpected(no_list(name, pages.list));
    }
    items.insert(items.end(), list->begin(), list->end());
    const auto last = list->empty() ? std::string() : std::string(text_at(list->back(), "id"));
    if (list->size() < pages.limit || last.empty() || last == marker) {
      break;
    }
    marker = last;
  }
  co_return items;
}

json::object product_of(const std::string& flavor, const std::string& region) {
  return {{"id", flavor},
          {"cloud_service_type", "hws.service.type.ec2"},
          {"resource_type", "hws.resource.type.vm"},
          {"resource_spec", flavor + ".linux"},
          {"region", region},
          {"usage_factor", "Duration"},
          {"usage_value", 1},
          {"usage_measure_id", kHourMeasure},
          {"subscription_num", 1}};
}

base::Task<ApiResult<json::value>> rate(Api& api, std::vector<std::string> flavors) {
  MW_CO_TRY(project, co_await api.project());
  json::array products;
  for (const auto& flavor : flavors) {
    products.push_back(product_of(flavor, api.endpoints().region()));
  }
  Call call;
  call.service = Service::Bss;
  call.operation = "rate on-demand resources";
  call.method = "POST";
  call.path = "/v2/bills/ratings/on-demand-resources";
  call.scope = Scope::Domain;
  call.body = json::object{
      {"project_id", project}, {"inquiry_precision", 1}, {"product_infos", std::move(products)}};
  co_return co_await api.send(std::move(call));
}

// Adds what an answer tells; false when it is not one.
bool read_prices(const json::value& answer, PriceTable& prices) {
  const auto* results = list_in(answer, "product_rating_results");
  if (results == nullptr) {
    return false;
  }
  for (const auto& each : *results) {
    const auto amount = price_in(member(each, "amount"));
    const auto price = amount > 0 ? amount : price_in(member(each, "official_website_amount"));
    if (price > 0) {
      prices.insert_or_assign(std::string(text_at(each, "id")), price);
    }
  }
  return true;
}

// What was asked for is to blame, and not BSS, the keys or the way to it.
bool is_about_the_products(const ApiError& error) {
  return error.kind == ErrorKind::Invalid || error.kind == ErrorKind::NotFound;
}

using Names = std::vector<std::string>;

// Splits off what begins at `at`.
Names cut(Names& names, std::size_t at) {
  const auto from = names.begin() + static_cast<std::ptrdiff_t>(at);
  Names rest(from, names.end());
  names.erase(from, names.end());
  return rest;
}

std::deque<Names> in_batches(Names names) {
  std::deque<Names> batches;
  while (names.size() > kProductsPerCall) {
    auto rest = cut(names, kProductsPerCall);
    batches.push_back(std::exchange(names, std::move(rest)));
  }
  if (!names.empty()) {
    batches.push_back(std::move(names));
  }
  return batches;
}

}  // namespace

std::string missing_product(const ApiError& error) {
  constexpr std::string_view kLeadIn = "Can not find product ";
  if (error.code != "CBC.6006" && error.code != "CBC.99006006") {
    return {};
  }
  const auto at = error.message.find(kLeadIn);
  if (at == std::string::npos) {
    return {};
  }
  auto name = std::string_view(error.message).substr(at + kLeadIn.size());
  name = name.substr(0, name.find_first_of(" ,;()\"'"));
  while (name.ends_with('.')) {
    name.remove_suffix(1);
  }
  constexpr std::string_view kSystem = ".linux";
  if (name.ends_with(kSystem)) {
    name.remove_suffix(kSystem.size());
  }
  return std::string(name);
}

base::Task<ApiResult<std::vector<Flavor>>> list_flavors(Api& api) {
  Pages pages{.service = Service::Ecs,
              .operation = "list flavors",
              .path = "/v1/{project}/cloudservers/flavors",
              .list = "flavors",
              .limit = kFlavorsPerPage};
  MW_CO_TRY(items, co_await read_pages(api, std::move(pages)));
  std::vector<Flavor> flavors;
  for (const auto& item : items) {
    if (auto flavor = read_flavor(item)) {
      flavors.push_back(*std::move(flavor));
    }
  }
  co_return flavors;
}

base::Task<ApiResult<std::vector<std::string>>> list_zones(Api& api) {
  Call call;
  call.service = Service::Ecs;
  call.operation = "list zones";
  call.path = "/v1/{project}/availability-zones";
  MW_CO_TRY(answer, co_await api.send(std::move(call)));
  const auto* list = list_in(answer, "availability_zones");
  if (list == nullptr) {
    co_return tl::unexpected(no_list("ecs list zones", "availability_zones"));
  }
  std::vector<std::string> zones;
  for (const auto& each : *list) {
    if (const auto id = text_at(each, "availability_zone_id"); !id.empty()) {
      zones.emplace_back(id);
    }
  }
  std::sort(zones.begin(), zones.end());
  co_return zones;
}

base::Task<ApiResult<std::vector<Subnet>>> list_subnets(Api& api) {
  Pages pages{.service = Service::Vpc,
              .operation = "list subnets",
              .path = "/v1/{project}/subnets",
              .list = "subnets",
              .limit = kSubnetsPerPage};
  MW_CO_TRY(items, co_await read_pages(api, std::move(pages)));
  std::vector<Subnet> subnets;
  for (const auto& item : items) {
    Subnet subnet;
    subnet.id = text_at(item, "id");
    subnet.name = text_at(item, "name");
    const auto* free = member(item, "available_ip_address_count");
    subnet.free_addresses = free != nullptr && free->is_int64() ? free->get_int64() : 0;
    const auto status = text_at(item, "status");
    if (!subnet.id.empty() && (status.empty() || status == "ACTIVE")) {
      subnets.push_back(std::move(subnet));
    }
  }
  co_return subnets;
}

base::Task<ApiResult<ListedPrices>> list_prices(Api& api, std::vector<std::string> flavors) {
  ListedPrices listed;
  std::optional<ApiError> first_refusal;
  int refusals = 0;
  auto batches = in_batches(std::move(flavors));
  while (!batches.empty()) {
    auto batch = std::move(batches.front());
    batches.pop_front();
    auto answer = co_await rate(api, batch);
    if (answer) {
      if (!read_prices(*answer, listed.prices)) {
        co_return tl::unexpected(no_list("bss rate on-demand resources", "product_rating_results"));
      }
      continue;
    }
    // One product that is not sold makes BSS refuse all of them.
    const auto missing = missing_product(answer.error());
    if (!missing.empty() && std::erase(batch, missing) > 0) {
      if (!batch.empty()) {
        batches.push_front(std::move(batch));
      }
      continue;
    }
    if (!is_about_the_products(answer.error())) {
      co_return tl::unexpected(std::move(answer).error());
    }
    if (!first_refusal) {
      first_refusal = answer.error();
    }
    // So does one that it will not price for another reason, which it need not name.
    if (batch.size() > 1 && ++refusals <= kMostHalved) {
      auto half = cut(batch, batch.size() / 2);
      batches.push_back(std::move(batch));
      batches.push_back(std::move(half));
    } else {
      listed.refused.insert(listed.refused.end(), batch.begin(), batch.end());
    }
  }
  if (first_refusal) {
    if (listed.prices.empty()) {
      co_return tl::unexpected(*std::move(first_refusal));
    }
    listed.refusal = first_refusal->message;
  }
  co_return listed;
}

}  // namespace millwright::cloud::huawei
