#include "cloud/alibaba/calls/ecs.hpp"

#include "millwright/model/json_fields.hpp"

#include <algorithm>
#include <memory>

namespace millwright::cloud::alibaba {
namespace {

constexpr std::int64_t kTokenPage = 100;
constexpr std::int64_t kNumberedPage = 50;
constexpr auto kPriceWindow = std::chrono::hours(3);

ApiError not_as_documented(Service service, std::string_view action, const Answer& answer) {
  return bad_answer(std::string(to_string(service)).append(" ").append(action), answer.problem());
}

// ECS writes "X86" and "ARM"; images "x86_64" and "arm64".
std::string kubernetes_arch(std::string_view text) {
  const bool is_arm = text == "ARM" || text == "arm64";
  return is_arm ? "arm64" : "amd64";
}

// "2026-01-02T03:04Z": whole minutes.
std::optional<base::TimePoint> minute_time(std::string text) {
  if (text.size() == 17 && text.back() == 'Z') {
    text.insert(16, ":00");
  }
  return base::parse_rfc3339(text);
}

// Whether there is any: "WithStock", or "ClosedWithStock", which is some that is not refilled.
// nullopt for what is not sold: "ClosedWithoutStock" does not come back, as "WithoutStock" does.
std::optional<bool> stock_by(std::string_view category) {
  if (category == "WithStock" || category == "ClosedWithStock") {
    return true;
  }
  return category == "WithoutStock" ? std::optional(false) : std::nullopt;
}

void read_type_stock(const boost::json::value& item, const std::string& zone, StockByType& stock,
                     Unread& unread) {
  Answer answer;
  const auto category = answer.optional_text(item, "StatusCategory");
  // With a category that cannot be read, nothing is bought, and nodes of the type stay.
  const auto some = answer.is_good() ? stock_by(category) : std::optional(false);
  if (some) {
    if (const auto type = answer.text(item, "Value"); !type.empty()) {
      auto& known = stock[type][zone];
      known = known || *some;
    }
  }
  if (!answer.is_good()) {
    unread.add(answer);
  }
}

void read_zone_stock(const boost::json::value& item, StockByType& stock, Unread& unread) {
  Answer answer;
  const auto zone = answer.text(item, "ZoneId");
  const auto& resources = answer.optional_list(item, "AvailableResources", "AvailableResource");
  if (!answer.is_good()) {
    unread.add(answer);
    return;
  }
  for (const auto& resource : resources) {
    Answer of_resource;
    for (const auto& each :
         of_resource.optional_list(resource, "SupportedResources", "SupportedResource")) {
      read_type_stock(each, zone, stock, unread);
    }
    if (!of_resource.is_good()) {
      unread.add(of_resource);
    }
  }
}

// The latest of each zone.
struct SpotHistory {
  std::map<std::string, std::string, std::less<>> when;  // by zone; RFC 3339 sorts as text
  TypePrices prices;

  void read(const boost::json::value& item, Unread& unread) {
    Answer answer;
    const auto zone = answer.text(item, "ZoneId");
    const auto time = answer.text(item, "Timestamp");
    const auto spot = answer.decimal(item, "SpotPrice");
    const auto origin = answer.decimal(item, "OriginPrice");
    if (!answer.is_good()) {
      unread.add(answer);
      return;
    }
    auto& last = when[zone];
    if (spot > 0 && time >= last) {
      last = time;
      prices.spot[zone] = spot;
    }
    if (origin > 0) {
      prices.on_demand = origin;
    }
  }
};

}  // namespace

TypeFacts read_type(Answer& answer, const boost::json::value& item) {
  TypeFacts type;
  type.name = answer.text(item, "InstanceTypeId");
  type.family = answer.text(item, "InstanceTypeFamily");
  type.arch = kubernetes_arch(answer.optional_text(item, "CpuArchitecture"));
  type.cpu_model = answer.optional_text(item, "PhysicalProcessorModel");
  type.cpus = answer.count(item, "CpuCoreCount");
  type.memory_mib = static_cast<std::int64_t>(answer.decimal(item, "MemorySize") * 1024);
  type.enis = answer.count(item, "EniQuantity");
  type.addresses_per_eni = answer.count(item, "EniPrivateIpAddressQuantity");
  type.total_enis = answer.count(item, "EniTotalQuantity");
  const auto* trunk = model::member(item, "EniTrunkSupported");
  type.has_trunk = trunk != nullptr && trunk->is_bool() && trunk->get_bool();
  type.gpus = answer.count(item, "GPUAmount");
  type.gpu = answer.optional_text(item, "GPUSpec");
  type.gpu_memory_mib = static_cast<std::int64_t>(answer.decimal(item, "GPUMemorySize") * 1024);
  return type;
}

EcsInstance read_instance(Answer& answer, const boost::json::value& item) {
  EcsInstance instance;
  instance.id = answer.text(item, "InstanceId");
  instance.type = answer.optional_text(item, "InstanceType");
  instance.zone = answer.optional_text(item, "ZoneId");
  instance.status = answer.optional_text(item, "Status");
  instance.image_id = answer.optional_text(item, "ImageId");
  const auto strategy = answer.optional_text(item, "SpotStrategy");
  instance.is_spot = !strategy.empty() && strategy != "NoSpot";
  instance.created_at = minute_time(answer.optional_text(item, "CreationTime"));
  if (const auto* vpc = model::member(item, "VpcAttributes"); vpc != nullptr && vpc->is_object()) {
    instance.vswitch_id = answer.optional_text(*vpc, "VSwitchId");
    for (const auto& address : answer.optional_list(*vpc, "PrivateIpAddress", "IpAddress")) {
      if (address.is_string() && instance.private_address.empty()) {
        instance.private_address = address.get_string();
      }
    }
  }
  for (const auto& group : answer.optional_list(item, "SecurityGroupIds", "SecurityGroupId")) {
    instance.security_groups.emplace_back(model::as_text(&group));
  }
  std::sort(instance.security_groups.begin(), instance.security_groups.end());
  for (const auto& tag : answer.optional_list(item, "Tags", "Tag")) {
    instance.tags[answer.text(tag, "TagKey")] = answer.optional_text(tag, "TagValue");
  }
  for (const auto& lock : answer.optional_list(item, "OperationLocks", "LockReason")) {
    auto reason = answer.optional_text(lock, "LockReason");
    instance.is_recycling = instance.is_recycling || reason == "Recycling";
    instance.locks.push_back(std::move(reason));
  }
  return instance;
}

base::Task<ApiResult<>> Ecs::pages(std::string action, Parameters parameters, OnPage on_page) {
  parameters.set("MaxResults", kTokenPage);
  std::string token;
  for (int page = 0; page < kMaxPages; ++page) {
    if (!token.empty()) {
      parameters.set("NextToken", token);
    }
    MW_CO_TRY(answered, co_await api_.rpc(Service::Ecs, action, parameters));
    Answer answer;
    on_page(answer, answered);
    auto next = answer.optional_text(answered, "NextToken");
    if (!next.empty() && next == token) {
      answer.note("NextToken", "leads to the same page");
    }
    if (!answer.is_good()) {
      co_return tl::unexpected(not_as_documented(Service::Ecs, action, answer));
    }
    if (next.empty()) {
      break;
    }
    token = std::move(next);
  }
  co_return ApiResult<>{};
}

base::Task<ApiResult<>> Ecs::numbered_pages(Service service, std::string action,
                                            Parameters parameters, OnNumberedPage on_page) {
  parameters.set("PageSize", kNumberedPage);
  for (std::int64_t page = 1; page <= kMaxPages; ++page) {
    parameters.set("PageNumber", page);
    MW_CO_TRY(answered, co_await api_.rpc(service, action, parameters));
    Answer answer;
    const auto items = on_page(answer, answered);
    const auto total = answer.count(answered, "TotalCount");
    if (!answer.is_good()) {
      co_return tl::unexpected(not_as_documented(service, action, answer));
    }
    if (items == 0 || page * kNumberedPage >= total) {
      break;
    }
  }
  co_return ApiResult<>{};
}

ApiResult<> Ecs::accept(const std::string& action, const Unread& unread, bool read_nothing) {
  if (unread.items == 0) {
    return {};
  }
  if (read_nothing) {
    return tl::unexpected(bad_answer("ecs " + action, unread.problem));
  }
  if (warned_of_.insert(action).second) {
    api_.log().warn(
        "ECS told what cannot be read; it is left out",
        {{"call", action}, {"items", std::to_string(unread.items)}, {"error", unread.problem}});
  }
  return {};
}

base::Task<ApiResult<std::vector<TypeFacts>>> Ecs::instance_types() {
  const std::string action = "DescribeInstanceTypes";
  const auto types = std::make_shared<std::vector<TypeFacts>>();
  const auto unread = std::make_shared<Unread>();
  const auto read = [types, unread](Answer& answer, const boost::json::value& page) {
    for (const auto& item : answer.list(page, "InstanceTypes", "InstanceType")) {
      Answer of_item;
      auto type = read_type(of_item, item);
      if (of_item.is_good()) {
        types->push_back(std::move(type));
      } else {
        unread->add(of_item);
      }
    }
  };
  Parameters all;
  MW_CO_CHECK(co_await pages(action, std::move(all), read));
  MW_CO_CHECK(accept(action, *unread, types->empty()));
  unread_types_ = unread->items;
  co_return std::move(*types);
}

base::Task<ApiResult<StockByType>> Ecs::stock(bool spot) {
  Parameters parameters;
  parameters.set("DestinationResource", "InstanceType").set("InstanceChargeType", "PostPaid");
  parameters.set("SpotStrategy", spot ? "SpotAsPriceGo" : "NoSpot");
  const std::string action = "DescribeAvailableResource";
  MW_CO_TRY(answered, co_await api_.rpc(Service::Ecs, action, parameters));
  Answer answer;
  Unread unread;
  StockByType result;
  for (const auto& zone : answer.list(answered, "AvailableZones", "AvailableZone")) {
    read_zone_stock(zone, result, unread);
  }
  if (!answer.is_good()) {
    co_return tl::unexpected(not_as_documented(Service::Ecs, action, answer));
  }
  MW_CO_CHECK(accept(action, unread, result.empty()));
  co_return result;
}

base::Task<ApiResult<TypePrices>> Ecs::spot_prices(std::string type) {
  const std::string action = "DescribeSpotPriceHistory";
  const auto now = api_.loop().now();
  Parameters parameters;
  parameters.set("NetworkType", "vpc").set("OSType", "linux").set("InstanceType", type);
  parameters.set("StartTime", base::format_rfc3339(now - kPriceWindow));
  parameters.set("EndTime", base::format_rfc3339(now));
  SpotHistory history;
  Unread unread;
  std::int64_t offset = 0;
  for (int page = 0; page < kMaxPages; ++page) {
    parameters.set("Offset", offset);
    MW_CO_TRY(answered, co_await api_.rpc(Service::Ecs, action, parameters));
    Answer answer;
    const auto& items = answer.list(answered, "SpotPrices", "SpotPriceType");
    for (const auto& item : items) {
      history.read(item, unread);
    }
    const auto next = answer.count(answered, "NextOffset");
    if (!answer.is_good()) {
      co_return tl::unexpected(not_as_documented(Service::Ecs, action, answer));
    }
    if (items.empty() || next <= offset) {
      break;
    }
    offset = next;
  }
  MW_CO_CHECK(accept(action, unread, history.when.empty()));
  co_return history.prices;
}

base::Task<ApiResult<std::optional<double>>> Ecs::on_demand_price(std::string type) {
  auto price = co_await price_with_disk(type, "cloud_essd");
  // By which code ECS tells that the type does not take the disk is not documented.
  if (!price && price.error().kind == base::ErrorKind::Invalid) {
    price = co_await price_with_disk(type, "cloud_efficiency");
  }
  co_return price;
}

base::Task<ApiResult<std::optional<double>>> Ecs::price_with_disk(std::string type,
                                                                  std::string disk_category) {
  Parameters parameters;
  parameters.set("ResourceType", "instance").set("InstanceType", type).set("PriceUnit", "Hour");
  parameters.set("SystemDisk.Category", disk_category);
  const std::string action = "DescribePrice";
  MW_CO_TRY(answered, co_await api_.rpc(Service::Ecs, action, parameters));
  const auto* price = model::find_path(answered, "PriceInfo.Price");
  Answer answer;
  if (price == nullptr) {
    answer.note("PriceInfo.Price", "is missing");
    co_return tl::unexpected(not_as_documented(Service::Ecs, action, answer));
  }
  const auto hourly = answer.decimal(*price, "OriginalPrice");
  if (!answer.is_good()) {
    co_return tl::unexpected(not_as_documented(Service::Ecs, action, answer));
  }
  co_return hourly > 0 ? std::optional(hourly) : std::nullopt;
}

}  // namespace millwright::cloud::alibaba
