#include "app/asking/caller_rights.hpp"

#include <algorithm>
#include <utility>

namespace millwright::app {
namespace {

namespace json = boost::json;

constexpr model::Resource kTokenReview{"authentication.k8s.io", "v1", "TokenReview", "tokenreviews",
                                       false};
constexpr model::Resource kAccessReview{"authorization.k8s.io", "v1", "SubjectAccessReview",
                                        "subjectaccessreviews", false};

net::Response unknown_caller() {
  auto response = net::Response::text(
      401,
      "the API server does not know this token: send one of a user of this cluster as "
      "Authorization: Bearer TOKEN\n");
  response.headers.set("WWW-Authenticate", "Bearer");
  return response;
}

net::Response forbidden(const std::string& user) {
  return net::Response::text(
      403, user + " may not ask: bind a ClusterRole with verb get on nonResourceURL " +
               std::string(kAskingUrl) + "\n");
}

net::Response cannot_check(const base::Error& error) {
  const char* advice =
      error.kind == base::ErrorKind::Denied
          ? "; bind ClusterRole millwright-asking to Millwright's account, as `millwright "
            "install --asking-port` and the chart do"
          : "";
  return net::Response::text(
      503, "the API server did not say who you are: " + error.message + advice + "\n");
}

net::Response too_many() {
  auto response =
      net::Response::text(429, "too many callers are being checked: ask again in a second\n");
  response.headers.set("Retry-After", "1");
  return response;
}

// The member of `status`, or nullptr.
const json::value* status_member(const json::value& review, std::string_view name) {
  const auto* object = review.if_object();
  const auto* status = object ? object->if_contains("status") : nullptr;
  const auto* members = status ? status->if_object() : nullptr;
  return members ? members->if_contains(name) : nullptr;
}

bool is_true(const json::value* value) {
  const bool* flag = value ? value->if_bool() : nullptr;
  return flag && *flag;
}

json::value token_review(const std::string& token) {
  return {{"apiVersion", "authentication.k8s.io/v1"},
          {"kind", "TokenReview"},
          {"spec", {{"token", token}}}};
}

// `user` as a TokenReview names it: username, uid, groups, extra.
json::value access_review(const json::object& user) {
  json::object spec{{"nonResourceAttributes", {{"path", kAskingUrl}, {"verb", "get"}}}};
  const auto copy = [&](std::string_view from, std::string_view to) {
    if (const auto* value = user.if_contains(from)) {
      spec[to] = *value;
    }
  };
  copy("username", "user");
  copy("uid", "uid");
  copy("groups", "groups");
  copy("extra", "extra");
  return {{"apiVersion", "authorization.k8s.io/v1"},
          {"kind", "SubjectAccessReview"},
          {"spec", std::move(spec)}};
}

std::string name_of(const json::object& user) {
  const auto* name = user.if_contains("username");
  return name && name->is_string() ? std::string(name->get_string()) : "this user";
}

}  // namespace

base::Task<base::Result<std::optional<net::Response>>> CallerRights::ask(std::string token) {
  auto review = token_review(token);
  const auto known = co_await client_.create(kTokenReview, std::move(review));
  if (!known) {
    co_return tl::unexpected(known.error());
  }
  const auto* found = status_member(*known, "user");
  const auto* user = found ? found->if_object() : nullptr;
  if (!is_true(status_member(*known, "authenticated")) || !user) {
    co_return unknown_caller();
  }
  auto question = access_review(*user);
  const auto allowed = co_await client_.create(kAccessReview, std::move(question));
  if (!allowed) {
    co_return tl::unexpected(allowed.error());
  }
  if (!is_true(status_member(*allowed, "allowed"))) {
    co_return forbidden(name_of(*user));
  }
  co_return std::optional<net::Response>();
}

base::Task<std::optional<net::Response>> CallerRights::check(std::string token) {
  if (token.empty() || token.size() > kLongestToken) {
    co_return unknown_caller();
  }
  if (const auto found = kept_.find(token); found != kept_.end() && now() < found->second.until) {
    co_return found->second.refusal;
  }
  if (under_way_ >= kMostAtOnce) {
    co_return too_many();
  }
  ++under_way_;
  auto asked = co_await ask(token);
  --under_way_;
  if (!asked) {
    co_return cannot_check(asked.error());
  }
  keep(std::move(token), *asked);
  co_return *std::move(asked);
}

void CallerRights::keep(std::string token, std::optional<net::Response> refusal) {
  std::erase_if(kept_, [&](const auto& entry) { return entry.second.until <= now(); });
  if (kept_.size() >= kMostKept) {
    kept_.erase(
        std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.until; }));
  }
  const auto until = now() + (refusal ? kKeepRefused : kKeepAllowed);
  kept_.insert_or_assign(std::move(token), Verdict{until, std::move(refusal)});
}

}  // namespace millwright::app
