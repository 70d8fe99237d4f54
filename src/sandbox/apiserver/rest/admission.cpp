#include "sandbox/apiserver/rest/admission.hpp"

#include "millwright/base/base64.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/patch.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace millwright::sandbox {

namespace {

bool list_has(const boost::json::array& list, std::string_view wanted) {
  return std::any_of(list.begin(), list.end(), [&](const Json& item) {
    return item == "*" || (item.is_string() && std::string_view(item.get_string()) == wanted);
  });
}

bool rule_matches(const Json& rule, const ResourceInfo& info, std::string_view operation,
                  const std::string& resource) {
  const bool whole = list_has(items(rule, "resources"), resource) ||
                     std::any_of(items(rule, "resources").begin(), items(rule, "resources").end(),
                                 [](const Json& item) { return item == "*/*"; });
  return whole && list_has(items(rule, "operations"), operation) &&
         list_has(items(rule, "apiGroups"), info.resource.group) &&
         list_has(items(rule, "apiVersions"), info.resource.version);
}

// Host, path and port are the caller's business; a URL's path is split off for in-process callers.
std::string path_of_url(std::string_view url) {
  const auto scheme = url.find("://");
  const auto slash = url.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  return slash == std::string_view::npos ? "/" : std::string(url.substr(slash));
}

Refused denied(const std::string& webhook, const Json& response) {
  const auto message = text(response, "status.message");
  auto reason = text(response, "status.reason");
  return Refused(ApiError{
      static_cast<int>(std::max<std::int64_t>(400, integer(response, "status.code", 403))),
      std::string(reason),
      fmt::format("admission webhook \"{}\" denied the request{}{}", webhook,
                  message.empty() ? " without explanation" : ": ", message),
      find(response, "status.details") == nullptr ? Json() : *find(response, "status.details")});
}

// Keeps the warnings; an error when the webhook denied.
ApiResult<> take_answer(const std::string& webhook, const Json& answer, Admitted& admitted) {
  if (!boolean(answer, "allowed")) {
    return denied(webhook, answer);
  }
  for (const auto& warning : items(answer, "warnings")) {
    admitted.warnings.emplace_back(model::as_text(&warning));
  }
  return {};
}

Json group_version(const model::Resource& resource, std::string_view field,
                   std::string_view value) {
  return boost::json::object{
      {"group", resource.group}, {"version", resource.version}, {field, value}};
}

}  // namespace

AdmissionChain::AdmissionChain(const Store& store, std::uint64_t seed, base::Logger log)
    : store_(store), random_(seed), log_(std::move(log)) {}

std::vector<AdmissionChain::Webhook> AdmissionChain::matching(const model::Resource& configurations,
                                                              const ResourceInfo& info,
                                                              std::string_view operation,
                                                              std::string_view subresource) const {
  std::vector<Webhook> webhooks;
  std::string resource(info.resource.plural);
  if (!subresource.empty()) {
    resource.append("/").append(subresource);
  }
  for (const auto& [key, configuration] : store_.objects(info_of(configurations))) {
    for (const auto& entry : items(*configuration, "webhooks")) {
      const auto& rules = items(entry, "rules");
      if (std::none_of(rules.begin(), rules.end(), [&](const Json& rule) {
            return rule_matches(rule, info, operation, resource);
          })) {
        continue;
      }
      Webhook webhook;
      webhook.name = text(entry, "name");
      webhook.fail_closed = text(entry, "failurePolicy") != "Ignore";
      webhook.target.url = text(entry, "clientConfig.url");
      webhook.target.service_namespace = text(entry, "clientConfig.service.namespace");
      webhook.target.service_name = text(entry, "clientConfig.service.name");
      webhook.target.service_port =
          static_cast<int>(integer(entry, "clientConfig.service.port", 443));
      webhook.target.path = webhook.target.url.empty()
                                ? std::string(text(entry, "clientConfig.service.path"))
                                : path_of_url(webhook.target.url);
      webhook.target.ca_pem =
          base::decode_base64(text(entry, "clientConfig.caBundle")).value_or(std::string());
      webhook.target.timeout = std::chrono::seconds(integer(entry, "timeoutSeconds", 10));
      webhooks.push_back(std::move(webhook));
    }
  }
  return webhooks;
}

bool AdmissionChain::applies(const ResourceInfo& info, std::string_view operation,
                             std::string_view subresource) const {
  return caller_ != nullptr &&
         (!matching(model::kMutatingWebhookResource, info, operation, subresource).empty() ||
          !matching(model::kValidatingWebhookResource, info, operation, subresource).empty());
}

Json AdmissionChain::review_of(const AdmissionInput& input, const std::string& uid) const {
  const auto& resource = input.info->resource;
  const Json& named = input.object.is_object() ? input.object : *input.old;
  const auto kind = group_version(resource, "kind", resource.kind);
  const auto plural = group_version(resource, "resource", resource.plural);
  boost::json::object request{
      {"uid", uid},
      {"kind", kind},
      {"resource", plural},
      {"requestKind", kind},
      {"requestResource", plural},
      {"name", text(named, "metadata.name")},
      {"operation", input.operation},
      {"userInfo", boost::json::object{{"username", "sandbox-admin"},
                                       {"groups", boost::json::array{"system:masters"}}}},
      {"object", input.object},
      {"oldObject", input.old == nullptr ? Json() : *input.old},
      {"dryRun", input.dry_run},
      {"options", nullptr}};
  if (resource.namespaced) {
    request["namespace"] = text(named, "metadata.namespace");
  }
  if (!input.subresource.empty()) {
    request["subResource"] = input.subresource;
  }
  return boost::json::object{{"kind", "AdmissionReview"},
                             {"apiVersion", "admission.k8s.io/v1"},
                             {"request", std::move(request)}};
}

base::Task<ApiResult<Json>> AdmissionChain::ask(Webhook webhook, AdmissionInput input) {
  const auto uid = random_.uuid();
  const auto name = webhook.name;
  const bool fail_closed = webhook.fail_closed;
  auto answer = co_await caller_->call(webhook.target, to_text(review_of(input, uid)));
  std::string failure;
  Json response;
  if (!answer) {
    failure = answer.error().message;
  } else if (auto parsed = model::parse_json(*answer); !parsed) {
    failure = parsed.error().message;
  } else if (const auto* found = find(*parsed, "response"); found == nullptr) {
    failure = "the answer holds no response";
  } else if (text(*found, "uid") != uid) {
    failure = fmt::format("the response is to another request: uid {} instead of {}",
                          text(*found, "uid"), uid);
  } else {
    response = *found;
  }
  if (!failure.empty()) {
    log_.warn("admission webhook failed", {{"webhook", name}, {"error", failure}});
    if (fail_closed) {
      co_return Refused(ApiError{
          500,
          "InternalError",
          fmt::format("Internal error occurred: failed calling webhook \"{}\": {}", name, failure),
          {}});
    }
  }
  co_return response;
}

base::Task<ApiResult<Admitted>> AdmissionChain::mutate(AdmissionInput input) {
  Admitted admitted{input.object, {}};
  if (caller_ == nullptr) {
    co_return admitted;
  }
  const auto webhooks =
      matching(model::kMutatingWebhookResource, *input.info, input.operation, input.subresource);
  for (const auto& webhook : webhooks) {
    input.object = admitted.object;
    auto answered = co_await ask(webhook, input);
    MW_CO_CHECK(answered);
    if (answered->is_null()) {
      continue;
    }
    MW_CO_CHECK(take_answer(webhook.name, *answered, admitted));
    if (const auto encoded = text(*answered, "patch"); !encoded.empty()) {
      auto patch = model::parse_json(base::decode_base64(encoded).value_or(std::string()));
      auto applied = patch ? model::apply_json_patch(admitted.object, *patch)
                           : base::Result<>(tl::unexpected(patch.error()));
      if (!applied && webhook.fail_closed) {
        co_return Refused(ApiError{500,
                                   "InternalError",
                                   fmt::format("Internal error occurred: the patch of webhook "
                                               "\"{}\" does not apply: {}",
                                               webhook.name, applied.error().message),
                                   {}});
      }
    }
  }
  co_return admitted;
}

base::Task<ApiResult<Admitted>> AdmissionChain::validate(AdmissionInput input) {
  Admitted admitted{input.object, {}};
  if (caller_ == nullptr) {
    co_return admitted;
  }
  const auto webhooks =
      matching(model::kValidatingWebhookResource, *input.info, input.operation, input.subresource);
  for (const auto& webhook : webhooks) {
    auto answered = co_await ask(webhook, input);
    MW_CO_CHECK(answered);
    if (answered->is_null()) {
      continue;
    }
    MW_CO_CHECK(take_answer(webhook.name, *answered, admitted));
  }
  co_return admitted;
}

}  // namespace millwright::sandbox
