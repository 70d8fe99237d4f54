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

// For one more: what ends first goes.
template <class Map, class End>
void make_room(Map& kept, std::size_t most, End end) {
  while (kept.size() >= most) {
    kept.erase(std::ranges::min_element(kept, {}, end));
  }
}

}  // namespace

kube::ClientOptions CallerRights::limits() {
  return {.qps = 5, .burst = 10, .timeout = std::chrono::seconds(10), .attempts = 1};
}

base::Task<base::Result<CallerRights::Verdict>> CallerRights::ask(std::string token,
                                                                  kube::Client* client) {
  auto review = token_review(token);
  const auto known = co_await client->create(kTokenReview, std::move(review));
  if (!known) {
    co_return tl::unexpected(known.error());
  }
  const auto* found = status_member(*known, "user");
  const auto* user = found ? found->if_object() : nullptr;
  if (!is_true(status_member(*known, "authenticated")) || !user) {
    co_return unknown_caller();
  }
  auto question = access_review(*user);
  const auto allowed = co_await client->create(kAccessReview, std::move(question));
  if (!allowed) {
    co_return tl::unexpected(allowed.error());
  }
  if (!is_true(status_member(*allowed, "allowed"))) {
    co_return forbidden(name_of(*user));
  }
  co_return Verdict();
}

base::Task<std::optional<net::Response>> CallerRights::check(std::string token, std::string peer) {
  if (token.empty() || token.size() > kLongestToken) {
    co_return unknown_caller();
  }
  if (const auto found = refused_.find(token);
      found != refused_.end() && now() < found->second.until) {
    co_return found->second.answer;
  }
  if (const auto found = allowed_.find(token); found != allowed_.end() && now() < found->second) {
    if (now() >= found->second - kRenewBefore) {
      begin(token, peer);
    }
    co_return std::nullopt;
  }
  auto* check = begin(token, peer);
  if (check == nullptr) {
    co_return too_many();
  }
  const base::Promise<Verdict> promise(newcomers_.loop());
  check->waiting.push_back(promise);
  co_return co_await promise.get();
}

// The check of the token that is under way, or a new one; nullptr: there are too many.
CallerRights::Check* CallerRights::begin(const std::string& token, const std::string& peer) {
  if (const auto found = under_way_.find(token); found != under_way_.end()) {
    return &found->second;
  }
  Check check{.renewal = allowed_.contains(token), .peer = peer, .waiting = {}};
  if (!has_room_for(check)) {
    return nullptr;
  }
  group_.spawn(run(token, check.renewal ? &renewals_ : &newcomers_));
  return &under_way_.emplace(token, std::move(check)).first->second;
}

bool CallerRights::has_room_for(const Check& check) const {
  const auto count = [&](const auto& counts) {
    return static_cast<std::size_t>(
        std::ranges::count_if(under_way_, [&](const auto& entry) { return counts(entry.second); }));
  };
  if (check.renewal) {
    return count([](const Check& other) { return other.renewal; }) < kMostRenewals;
  }
  return count([](const Check& other) { return !other.renewal; }) < kMostNewcomers &&
         count([&](const Check& other) { return !other.renewal && other.peer == check.peer; }) <
             kMostOfOnePeer;
}

base::Task<void> CallerRights::run(std::string token, kube::Client* client) {
  const auto asked = co_await ask(token, client);
  if (asked) {
    keep(token, *asked);
  }
  const auto verdict = asked ? *asked : Verdict(cannot_check(asked.error()));
  const auto ended = under_way_.extract(token);
  for (const auto& waiting : ended.mapped().waiting) {
    waiting.set(verdict);
  }
}

void CallerRights::keep(const std::string& token, const Verdict& verdict) {
  std::erase_if(allowed_, [&](const auto& entry) { return entry.second + kRemember <= now(); });
  std::erase_if(refused_, [&](const auto& entry) { return entry.second.until <= now(); });
  allowed_.erase(token);
  refused_.erase(token);
  if (verdict) {
    make_room(refused_, kMostRefused, [](const auto& entry) { return entry.second.until; });
    refused_.emplace(token, Refusal{.until = now() + kKeepRefused, .answer = *verdict});
  } else {
    make_room(allowed_, kMostAllowed, [](const auto& entry) { return entry.second; });
    allowed_.emplace(token, now() + kKeepAllowed);
  }
}

}  // namespace millwright::app
