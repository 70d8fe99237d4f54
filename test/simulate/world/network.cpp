#include "simulate/world/network.hpp"

#include "simulate/world/draws.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace millwright::test {
namespace {

net::Response refusal(int code, const char* reason, const char* message = "simulated") {
  auto response = net::Response::json(
      code, R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" +
                std::string(message) + R"(","reason":")" + std::string(reason) + R"(","code":)" +
                std::to_string(code) + "}");
  if (code == 429) {
    response.headers.set("Retry-After", "1");
  }
  return response;
}

base::Result<net::Response> refused() {
  return base::fail(base::ErrorKind::Unavailable, "connection refused");
}

bool is_own_kind(const kube::ApiRequest& request) {
  return request.path.starts_with("/apis/karpenter.");
}

bool forbids(ApiTrouble::Forbidden forbidden, const kube::ApiRequest& request) {
  switch (forbidden) {
    case ApiTrouble::Forbidden::Everything:
      return true;
    case ApiTrouble::Forbidden::Writes:
      return request.method != "GET";
    case ApiTrouble::Forbidden::OwnKinds:
      return is_own_kind(request);
    default:
      return false;
  }
}

// Webhooks see what creates and changes objects, and not what writes their status.
bool asks_webhooks(const kube::ApiRequest& request) {
  const bool changes =
      request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  return changes && is_own_kind(request) && request.path.find("/status") == std::string::npos;
}

}  // namespace

base::Task<base::Result<net::Response>> await_answer(
    base::Loop& loop, base::Promise<base::Result<net::Response>> answer,
    std::chrono::milliseconds timeout, std::stop_token stop) {
  const auto timer = loop.after(timeout, [answer] {
    answer.set(base::fail(base::ErrorKind::Timeout, "no answer within the deadline"));
  });
  const std::stop_callback on_stop(stop, [answer] {
    answer.set(base::fail(base::ErrorKind::Cancelled, "the request was cancelled"));
  });
  auto got = co_await answer.get();
  loop.cancel(timer);
  co_return got;
}

Network::Network(base::Loop& loop, std::shared_ptr<kube::Transport> inner,
                 const ApiTrouble& trouble, base::Random random)
    : loop_(loop),
      inner_(std::move(inner)),
      trouble_(trouble),
      random_(random),
      changed_(loop),
      on_the_way_(loop) {}

base::Duration Network::draw_latency() {
  return draw_up_to(random_, latency_);
}

base::Task<base::Result<net::Response>> Network::call(kube::ApiRequest request,
                                                      std::stop_token stop) {
  const base::Promise<Reply> reply(loop_);
  const auto timeout = request.timeout;
  on_the_way_.spawn(deliver(std::move(request), reply));
  co_return co_await await_answer(loop_, reply, timeout, std::move(stop));
}

base::Task<void> Network::deliver(kube::ApiRequest request, base::Promise<Reply> reply) {
  const auto there = draw_latency();
  if (there > base::Duration::zero()) {
    co_await base::sleep(loop_, there);
  }
  while (clogged_) {
    co_await changed_.wait({});
  }
  if (loses_requests_) {
    co_return;
  }
  if (auto answer = turn_away(request)) {
    reply.set(*std::move(answer));
    co_return;
  }
  const bool is_write = request.method != "GET";
  if (chance(trouble_.storm)) {
    reply.set(refusal(429, "TooManyRequests"));
    co_return;
  }
  if (request.path.find("continue=") != std::string::npos && chance(trouble_.gone_pages)) {
    reply.set(refusal(410, "Expired"));
    co_return;
  }
  auto answer = co_await inner_->call(std::move(request), {});
  if (is_write && chance(trouble_.late_commit)) {
    answer = refusal(504, "Timeout");
  }
  const auto back = draw_latency();
  if (back > base::Duration::zero()) {
    co_await base::sleep(loop_, back);
  }
  while (clogged_) {
    co_await changed_.wait({});
  }
  if (!loses_replies_) {
    reply.set(std::move(answer));
  }
}

std::optional<Network::Reply> Network::turn_away(const kube::ApiRequest& request) {
  if (trouble_.down) {
    return refused();
  }
  if (distrusts_) {
    return base::fail(base::ErrorKind::Unavailable,
                      "certificate verify failed: self-signed certificate in certificate chain");
  }
  if (token_expired_) {
    return refusal(401, "Unauthorized", "Unauthorized");
  }
  if (forbids(trouble_.forbidden, request)) {
    return refusal(403, "Forbidden", "the role does not allow it");
  }
  if (trouble_.webhooks_fail && asks_webhooks(request)) {
    return refusal(500, "InternalError",
                   "Internal error occurred: failed calling webhook: context deadline exceeded");
  }
  return std::nullopt;
}

base::Task<base::Result<net::Response>> Network::stream(
    kube::ApiRequest request, std::function<void(std::string_view)> on_chunk,
    std::stop_token stop) {
  while ((clogged_ || loses_requests_) && !stop.stop_requested()) {
    co_await changed_.wait(stop);
  }
  if (auto answer = turn_away(request)) {
    co_await base::yield(loop_);
    co_return *std::move(answer);
  }
  auto deliver_chunk = [this, on_chunk = std::move(on_chunk)](std::string_view chunk) {
    if (holds_replies() || !held_.empty()) {
      held_.emplace_back([on_chunk, text = std::string(chunk)] { on_chunk(text); });
    } else {
      on_chunk(chunk);
    }
  };
  auto reply = co_await inner_->stream(std::move(request), std::move(deliver_chunk), stop);
  co_return reply;
}

void Network::lose_requests(bool lose) {
  loses_requests_ = lose;
  changed_.notify();
}

void Network::lose_replies(bool lose) {
  loses_replies_ = lose;
  let_go();
}

void Network::clog(bool clog) {
  clogged_ = clog;
  let_go();
}

void Network::let_go() {
  changed_.notify();
  while (!holds_replies() && !held_.empty()) {
    const auto deliver_held = std::move(held_.front());
    held_.pop_front();
    deliver_held();
  }
}

}  // namespace millwright::test
