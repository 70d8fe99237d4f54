#include "millwright/sandbox/callers.hpp"

#include "millwright/base/base64.hpp"
#include "millwright/sandbox/api_server.hpp"
#include "millwright/schema/schema.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace millwright::sandbox {

namespace {

using Text = base::Result<std::string>;

class InProcessAdmission final : public AdmissionCaller {
 public:
  explicit InProcessAdmission(const webhooks::Admission& admission) : admission_(admission) {}
  base::Task<Text> call(WebhookTarget target, std::string review) override {
    webhooks::HttpReply reply;
    if (target.path.ends_with("/mutate")) {
      reply = admission_.mutate(review);
    } else if (target.path.ends_with("/validate")) {
      reply = admission_.validate(review);
    } else {
      reply = {404, {}};
    }
    if (reply.status != 200) {
      co_return base::fail(
          base::ErrorKind::Unavailable,
          fmt::format("{} answered {}: {}", target.path, reply.status, reply.body));
    }
    co_return std::move(reply.body);
  }

 private:
  const webhooks::Admission& admission_;
};

// One client per server name and CA, since these are fixed for a client's connections.
class HttpsAdmission final : public AdmissionCaller {
 public:
  HttpsAdmission(base::Loop& loop, std::function<std::string(const WebhookTarget&)> resolve)
      : loop_(loop), resolve_(std::move(resolve)) {}

  base::Task<Text> call(WebhookTarget target, std::string review) override {
    net::ClientTls tls;
    tls.ca_pem = target.ca_pem;
    std::string url = target.url;
    if (url.empty()) {
      url = resolve_ ? resolve_(target) : std::string();
      if (url.empty()) {
        co_return base::fail(base::ErrorKind::Unavailable,
                             fmt::format("service \"{}\" not found", target.service_name));
      }
      url += target.path;
      tls.server_name = fmt::format("{}.{}.svc", target.service_name, target.service_namespace);
    }
    auto& client = clients_[{tls.ca_pem, tls.server_name}];
    if (client == nullptr) {
      client = net::make_client(loop_, tls);
    }
    net::ClientRequest request;
    request.method = "POST";
    request.url = std::move(url);
    request.headers.set("Content-Type", "application/json");
    request.body = std::move(review);
    request.timeout = target.timeout;
    auto response = co_await client->send(std::move(request));
    MW_CO_CHECK(response);
    if (response->status != 200) {
      co_return base::fail(base::ErrorKind::Unavailable,
                           fmt::format("the webhook answered {}: {}", response->status,
                                       response->body.substr(0, 200)));
    }
    co_return std::move(response->body);
  }

 private:
  base::Loop& loop_;
  std::function<std::string(const WebhookTarget&)> resolve_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<net::Client>> clients_;
};

class InProcessExtender final : public ExtenderCaller {
 public:
  explicit InProcessExtender(const extender::Extender& extender) : extender_(extender) {}
  base::Task<Text> call(std::string verb, std::string body) override {
    extender::Reply reply{404, {}};
    if (verb == "filter") {
      reply = extender_.filter(body);
    } else if (verb == "prioritize") {
      reply = extender_.prioritize(body);
    } else if (verb == "preempt") {
      reply = extender_.preempt(body);
    }
    if (reply.status != 200) {
      co_return base::fail(
          base::ErrorKind::Unavailable,
          fmt::format("extender {} answered {}: {}", verb, reply.status, reply.body));
    }
    co_return std::move(reply.body);
  }

 private:
  const extender::Extender& extender_;
};

class HttpsExtender final : public ExtenderCaller {
 public:
  HttpsExtender(base::Loop& loop, std::string prefix, net::ClientTls tls,
                std::chrono::milliseconds timeout)
      : client_(net::make_client(loop, std::move(tls))),
        prefix_(std::move(prefix)),
        timeout_(timeout) {
    while (prefix_.ends_with('/')) {
      prefix_.pop_back();
    }
  }

  base::Task<Text> call(std::string verb, std::string body) override {
    net::ClientRequest request;
    request.method = "POST";
    request.url = prefix_ + "/" + verb;
    request.headers.set("Content-Type", "application/json");
    request.body = std::move(body);
    request.timeout = timeout_;
    auto response = co_await client_->send(std::move(request));
    MW_CO_CHECK(response);
    if (response->status != 200) {
      co_return base::fail(base::ErrorKind::Unavailable,
                           fmt::format("extender {} answered {}", verb, response->status));
    }
    co_return std::move(response->body);
  }

 private:
  std::unique_ptr<net::Client> client_;
  std::string prefix_;
  std::chrono::milliseconds timeout_;
};

// One rule per described kind: creates and updates of the object itself.
boost::json::array rules() {
  boost::json::array all;
  for (const auto* kind : schema::all_kinds()) {
    const auto& resource = schema::resource_of(*kind);
    all.push_back(boost::json::object{
        {"apiGroups", boost::json::array{boost::json::string(resource.group)}},
        {"apiVersions", boost::json::array{boost::json::string(resource.version)}},
        {"operations", boost::json::array{"CREATE", "UPDATE"}},
        {"resources", boost::json::array{boost::json::string(resource.plural)}},
        {"scope", "*"}});
  }
  return all;
}

base::Result<> store_configuration(ApiServer& server, const model::Resource& resource,
                                   std::string_view name, const std::string& url,
                                   const std::string& ca_pem) {
  boost::json::object client{{"url", url}};
  if (!ca_pem.empty()) {
    client["caBundle"] = base::encode_base64(ca_pem);
  }
  boost::json::object configuration{
      {"apiVersion", resource.api_version()},
      {"kind", resource.kind},
      {"metadata", boost::json::object{{"name", "millwright"}}},
      {"webhooks",
       boost::json::array{boost::json::object{{"name", name},
                                              {"admissionReviewVersions", boost::json::array{"v1"}},
                                              {"sideEffects", "None"},
                                              {"failurePolicy", "Ignore"},
                                              {"timeoutSeconds", 3},
                                              {"clientConfig", std::move(client)},
                                              {"rules", rules()}}}}};
  const auto present = server.get(resource, {{}, "millwright"});
  auto stored = present ? server.replace(resource, std::move(configuration))
                        : server.create(resource, std::move(configuration));
  if (!stored) {
    return tl::unexpected(std::move(stored).error());
  }
  return {};
}

}  // namespace

std::shared_ptr<AdmissionCaller> in_process_admission(const webhooks::Admission& admission) {
  return std::make_shared<InProcessAdmission>(admission);
}

std::shared_ptr<AdmissionCaller> https_admission(
    base::Loop& loop, std::function<std::string(const WebhookTarget&)> resolve) {
  return std::make_shared<HttpsAdmission>(loop, std::move(resolve));
}

base::Result<> register_webhooks(ApiServer& server, const std::string& base_url,
                                 const std::string& ca_pem) {
  auto mutating =
      store_configuration(server, model::kMutatingWebhookResource,
                          "defaults.webhooks.millwright.io", base_url + "/mutate", ca_pem);
  if (!mutating) {
    return mutating;
  }
  return store_configuration(server, model::kValidatingWebhookResource,
                             "rules.webhooks.millwright.io", base_url + "/validate", ca_pem);
}

std::shared_ptr<ExtenderCaller> in_process_extender(const extender::Extender& extender) {
  return std::make_shared<InProcessExtender>(extender);
}

std::shared_ptr<ExtenderCaller> https_extender(base::Loop& loop, std::string url_prefix,
                                               net::ClientTls tls,
                                               std::chrono::milliseconds timeout) {
  return std::make_shared<HttpsExtender>(loop, std::move(url_prefix), std::move(tls), timeout);
}

}  // namespace millwright::sandbox
