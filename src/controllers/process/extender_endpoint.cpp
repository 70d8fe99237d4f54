#include "millwright/controllers/process/extender_endpoint.hpp"

#include <boost/json.hpp>

#include <utility>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

// A new leader is ready at once, but for the first one of an installation.
constexpr auto kNotReadyYet = std::chrono::milliseconds(200);
constexpr auto kFailed = std::chrono::seconds(2);

std::string_view address_type(std::string_view address) {
  return address.find(':') == std::string_view::npos ? "IPv4" : "IPv6";
}

json::array endpoints_of(const ExtenderEndpointOptions& options) {
  const json::object conditions{{"ready", true}, {"serving", true}, {"terminating", false}};
  return json::array{
      json::object{{"addresses", json::array{options.address}}, {"conditions", conditions}}};
}

json::array ports_of(const ExtenderEndpointOptions& options) {
  return json::array{
      json::object{{"name", "extender"}, {"port", options.port}, {"protocol", "TCP"}}};
}

// Goes with its Service.
json::object owned_by(const json::value& service) {
  json::object reference{{"apiVersion", "v1"}, {"kind", "Service"}, {"name", kExtenderService}};
  boost::system::error_code none;
  const auto* uid = service.find_pointer("/metadata/uid", none);
  reference["uid"] = uid == nullptr ? json::value("") : *uid;
  return reference;
}

bool is_at(const json::value& slice, const char* pointer, const json::value& wanted) {
  boost::system::error_code none;
  const auto* found = slice.find_pointer(pointer, none);
  return found != nullptr && *found == wanted;
}

}  // namespace

ExtenderEndpoint::ExtenderEndpoint(kube::Client& client, ExtenderEndpointOptions options,
                                   std::function<bool()> can_answer, std::function<void()> on_led)
    : client_(client),
      options_(std::move(options)),
      can_answer_(std::move(can_answer)),
      on_led_(std::move(on_led)) {}

base::Task<void> ExtenderEndpoint::run(std::stop_token stop) {
  bool led = false;
  base::Duration pause = kNotReadyYet;
  while (!stop.stop_requested()) {
    if (can_answer_()) {
      const auto written = co_await write(stop);
      pause = written ? options_.look_again : kFailed;
      if (written && !std::exchange(led, true)) {
        options_.log.info("kube-scheduler is led to this replica", {{"address", options_.address}});
        on_led_();
      } else if (!written && !stop.stop_requested()) {
        options_.log.warn(
            "cannot lead kube-scheduler to this replica",
            {{"EndpointSlice", options_.namespace_ + "/" + std::string(kExtenderService)},
             {"error", written.error().message}});
      }
    }
    co_await base::sleep(client_.loop(), pause, stop);
  }
}

base::Task<base::Result<>> ExtenderEndpoint::write(std::stop_token stop) {
  const model::ObjectKey key{.namespace_ = options_.namespace_,
                             .name = std::string(kExtenderService)};
  auto slice = co_await client_.get(model::kEndpointSliceResource, key, stop);
  if (!slice && slice.error().kind == base::ErrorKind::NotFound) {
    co_return co_await create(stop);
  }
  MW_CO_CHECK(slice);
  if (!slice->is_object()) {
    co_return base::fail(base::ErrorKind::Unavailable, "the answer is not an object");
  }
  const json::array endpoints = endpoints_of(options_);
  const json::array ports = ports_of(options_);
  if (is_at(*slice, "/endpoints", endpoints) && is_at(*slice, "/ports", ports)) {
    co_return base::Result<>{};
  }
  slice->get_object()["endpoints"] = endpoints;
  slice->get_object()["ports"] = ports;
  auto replaced =
      co_await client_.replace(model::kEndpointSliceResource, *std::move(slice), {}, stop);
  MW_CO_CHECK(replaced);
  co_return base::Result<>{};
}

base::Task<base::Result<>> ExtenderEndpoint::create(std::stop_token stop) {
  const model::ObjectKey key{.namespace_ = options_.namespace_,
                             .name = std::string(kExtenderService)};
  auto service = co_await client_.get(model::kServiceResource, key, stop);
  if (!service) {
    co_return base::with_context("the Service that kube-scheduler calls; apply the manifests again",
                                 std::move(service).error());
  }
  json::object metadata{{"name", key.name}, {"namespace", key.namespace_}};
  metadata["labels"] = json::object{{"kubernetes.io/service-name", kExtenderService},
                                    {"endpointslice.kubernetes.io/managed-by", "millwright"}};
  metadata["ownerReferences"] = json::array{owned_by(*service)};
  json::object slice{{"metadata", std::move(metadata)},
                     {"addressType", address_type(options_.address)}};
  slice["endpoints"] = endpoints_of(options_);
  slice["ports"] = ports_of(options_);
  json::value object(std::move(slice));
  auto created = co_await client_.create(model::kEndpointSliceResource, std::move(object), stop);
  MW_CO_CHECK(created);
  co_return base::Result<>{};
}

}  // namespace millwright::controllers
