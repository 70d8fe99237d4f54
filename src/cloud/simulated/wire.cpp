#include "cloud/simulated/wire.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <array>

namespace millwright::cloud::wire {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr std::array kKinds{ErrorKind::Invalid,  ErrorKind::NotFound,     ErrorKind::Conflict,
                            ErrorKind::Exists,   ErrorKind::Throttled,    ErrorKind::Unavailable,
                            ErrorKind::Timeout,  ErrorKind::Unauthorized, ErrorKind::Denied,
                            ErrorKind::Gone,     ErrorKind::NoCapacity,   ErrorKind::NotReady,
                            ErrorKind::Cancelled};

base::Result<model::StringMap> strings(const json::value& object, std::string_view field) {
  model::StringMap map;
  const auto* found = model::find_path(object, field);
  if (found == nullptr || !found->is_object()) {
    return base::fail(ErrorKind::Invalid, "an instance without " + std::string(field));
  }
  for (const auto& [key, value] : found->get_object()) {
    map[std::string(key)] = model::as_text(&value);
  }
  return map;
}

base::Result<model::ResourceList> amounts(const json::value& object, std::string_view field) {
  MW_TRY(texts, strings(object, field));
  model::ResourceList list;
  for (const auto& [name, amount] : texts) {
    const auto quantity = model::Quantity::parse(amount);
    if (!quantity) {
      return base::fail(ErrorKind::Invalid,
                        std::string(field) + "." + name + ": \"" + amount + "\" is no quantity");
    }
    list[name] = *quantity;
  }
  return list;
}

}  // namespace

json::value encode(const Instance& instance) {
  json::object object{{"providerID", instance.provider_id},
                      {"imageID", instance.image_id},
                      {"nodeClaim", instance.node_claim},
                      {"nodePool", instance.node_pool},
                      {"labels", model::encode(instance.labels)},
                      {"annotations", model::encode(instance.annotations)},
                      {"capacity", model::encode(instance.capacity)},
                      {"allocatable", model::encode(instance.allocatable)},
                      {"terminating", instance.terminating},
                      {"nodeName", instance.node_name}};
  if (instance.launched_at) {
    object["launchedAt"] = base::format_rfc3339_micro(*instance.launched_at);
  }
  return object;
}

base::Result<Instance> decode_instance(const json::value& json) {
  Instance instance;
  instance.provider_id = model::text_at(json, "providerID");
  instance.image_id = model::text_at(json, "imageID");
  instance.node_claim = model::text_at(json, "nodeClaim");
  instance.node_pool = model::text_at(json, "nodePool");
  instance.node_name = model::text_at(json, "nodeName");
  MW_TRY(labels, strings(json, "labels"));
  MW_TRY(annotations, strings(json, "annotations"));
  MW_TRY(capacity, amounts(json, "capacity"));
  MW_TRY(allocatable, amounts(json, "allocatable"));
  instance.labels = std::move(labels);
  instance.annotations = std::move(annotations);
  instance.capacity = std::move(capacity);
  instance.allocatable = std::move(allocatable);
  const auto* terminating = model::find_path(json, "terminating");
  instance.terminating =
      terminating != nullptr && terminating->is_bool() && terminating->get_bool();
  if (const auto launched = base::parse_rfc3339(model::text_at(json, "launchedAt"))) {
    instance.launched_at = *launched;
  }
  return instance;
}

json::value encode(const base::Error& error) {
  return json::object{{"error", json::object{{"kind", to_string(error.kind)},
                                             {"message", error.message},
                                             {"retryAfterMs", error.retry_after.count()}}}};
}

std::optional<base::Error> error_in(const json::value& answer) {
  if (model::find_path(answer, "error") == nullptr) {
    return std::nullopt;
  }
  base::Error error{.kind = ErrorKind::Internal,
                    .message = std::string(model::text_at(answer, "error.message"))};
  const std::string_view kind = model::text_at(answer, "error.kind");
  for (const auto known : kKinds) {
    if (to_string(known) == kind) {
      error.kind = known;
    }
  }
  const auto* after = model::find_path(answer, "error.retryAfterMs");
  if (after != nullptr && after->is_int64()) {
    error.retry_after = std::chrono::milliseconds(after->get_int64());
  }
  return error;
}

json::value encode(const model::NodeClaim& claim) {
  json::value object = model::encode(claim);
  object.at("metadata").as_object()["uid"] = claim.meta.uid;
  object.as_object()["status"].emplace_object()["providerID"] = claim.provider_id;
  return object;
}

json::value encode(const model::NodeClass& node_class) {
  return json::object{
      {"apiVersion", node_class.api_version},
      {"kind", node_class.kind},
      {"metadata", json::object{{"name", node_class.meta.name},
                                {"annotations", model::encode(node_class.meta.annotations)}}},
      {"spec", node_class.spec},
      {"status", node_class.status}};
}

}  // namespace millwright::cloud::wire
