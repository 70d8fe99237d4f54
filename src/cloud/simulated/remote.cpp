#include "millwright/cloud/remote.hpp"

#include "cloud/simulated/wire.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

namespace millwright::cloud {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr auto kTimeout = std::chrono::milliseconds(60'000);

net::Response reply(const json::value& body) {
  return net::Response::json(200, json::serialize(body));
}

template <class T>
net::Response reply_to(const base::Result<T>& result) {
  if (!result) {
    return reply(wire::encode(result.error()));
  }
  if constexpr (std::is_void_v<T>) {
    return reply(json::object{});
  } else {
    return reply(json::object{{"instance", wire::encode(*result)}});
  }
}

template <class T>
base::Result<std::shared_ptr<const T>> part(const json::value& request, std::string_view field) {
  const auto* found = model::find_path(request, field);
  if (found == nullptr) {
    return base::fail(ErrorKind::Invalid, "the call has no " + std::string(field));
  }
  MW_TRY(decoded, model::decode<T>(*found));
  return std::make_shared<const T>(std::move(decoded));
}

base::Task<net::Response> answer_create(SimulatedCloud& cloud, json::value request) {
  auto claim = part<model::NodeClaim>(request, "claim");
  if (!claim) {
    co_return reply(wire::encode(claim.error()));
  }
  auto node_class = part<model::NodeClass>(request, "nodeClass");
  const std::shared_ptr<const model::NodeClass> found = node_class ? *node_class : nullptr;
  const auto created = co_await cloud.create(*claim, found);
  co_return reply_to(created);
}

base::Task<net::Response> answer_remove(SimulatedCloud& cloud, json::value request) {
  auto claim = part<model::NodeClaim>(request, "claim");
  if (!claim) {
    co_return reply(wire::encode(claim.error()));
  }
  const auto removed = co_await cloud.remove(*claim);
  co_return reply_to(removed);
}

base::Task<net::Response> answer_list(SimulatedCloud& cloud) {
  const auto listed = co_await cloud.list();
  if (!listed) {
    co_return reply(wire::encode(listed.error()));
  }
  json::array instances;
  for (const auto& instance : *listed) {
    instances.push_back(wire::encode(instance));
  }
  co_return reply(json::object{{"instances", std::move(instances)}});
}

}  // namespace

base::Task<net::Response> answer_cloud_call(SimulatedCloud& cloud, std::string verb,
                                            std::string body) {
  const auto request = model::parse_json(body);
  if (!request) {
    co_return net::Response::text(400, request.error().message + "\n");
  }
  if (verb == "create") {
    co_return co_await answer_create(cloud, *request);
  }
  if (verb == "remove") {
    co_return co_await answer_remove(cloud, *request);
  }
  if (verb == "get") {
    const auto found = co_await cloud.get(std::string(model::text_at(*request, "providerID")));
    co_return reply_to(found);
  }
  if (verb == "list") {
    co_return co_await answer_list(cloud);
  }
  if (verb == "remove-leaked") {
    const auto removed =
        co_await cloud.remove_leaked(std::string(model::text_at(*request, "providerID")));
    co_return reply_to(removed);
  }
  co_return net::Response::text(404, "no such call: " + verb + "\n");
}

RemoteCloud::RemoteCloud(std::unique_ptr<SimulatedCloud> local, std::unique_ptr<net::Client> client,
                         std::string url)
    : local_(std::move(local)), client_(std::move(client)), url_(std::move(url)) {}

base::Result<std::unique_ptr<RemoteCloud>> RemoteCloud::make(base::Loop& loop, Profile profile,
                                                             SimulatedSettings settings,
                                                             std::string url) {
  MW_TRY(local, SimulatedCloud::make(loop, profile, std::move(settings)));
  url += "/" + std::string(to_string(profile)) + "/";
  return std::unique_ptr<RemoteCloud>(
      new RemoteCloud(std::move(local), net::make_client(loop), std::move(url)));
}

base::Task<base::Result<json::value>> RemoteCloud::call(std::string verb, json::value request) {
  net::ClientRequest http;
  http.method = "POST";
  http.url = url_ + verb;
  http.headers.set("Content-Type", "application/json");
  http.body = json::serialize(request);
  http.timeout = kTimeout;
  auto response = co_await client_->send(std::move(http));
  if (!response) {
    co_return base::with_context("simulated cloud at " + url_, std::move(response).error());
  }
  if (response->status != 200) {
    co_return base::fail(ErrorKind::Unavailable, "simulated cloud at " + url_ + " answered " +
                                                     std::to_string(response->status) + ": " +
                                                     response->body);
  }
  MW_CO_TRY(answer, model::parse_json(response->body));
  if (auto error = wire::error_in(answer)) {
    co_return tl::unexpected(*std::move(error));
  }
  co_return answer;
}

Provider::Reply<Instance> RemoteCloud::create(std::shared_ptr<const model::NodeClaim> claim,
                                              std::shared_ptr<const model::NodeClass> node_class) {
  json::object request{{"claim", wire::encode(*claim)}};
  if (node_class) {
    request["nodeClass"] = wire::encode(*node_class);
  }
  MW_CO_TRY(answer, co_await call("create", std::move(request)));
  co_return wire::decode_instance(answer.at("instance"));
}

Provider::Reply<> RemoteCloud::remove(std::shared_ptr<const model::NodeClaim> claim) {
  json::object request{{"claim", wire::encode(*claim)}};
  MW_CO_CHECK(co_await call("remove", std::move(request)));
  co_return base::Result<>();
}

Provider::Reply<Instance> RemoteCloud::get(std::string provider_id) {
  json::object request{{"providerID", provider_id}};
  MW_CO_TRY(answer, co_await call("get", std::move(request)));
  co_return wire::decode_instance(answer.at("instance"));
}

Provider::Reply<std::vector<Instance>> RemoteCloud::list() {
  json::object request;
  MW_CO_TRY(answer, co_await call("list", std::move(request)));
  std::vector<Instance> instances;
  for (const auto& item : answer.at("instances").as_array()) {
    MW_CO_TRY(instance, wire::decode_instance(item));
    instances.push_back(std::move(instance));
  }
  co_return instances;
}

Provider::Reply<> RemoteCloud::remove_leaked(std::string provider_id) {
  json::object request{{"providerID", provider_id}};
  MW_CO_CHECK(co_await call("remove-leaked", std::move(request)));
  co_return base::Result<>();
}

}  // namespace millwright::cloud
