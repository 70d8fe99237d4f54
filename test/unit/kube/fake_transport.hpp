// An API server of a few lines: answers come from a function, watches are played by the test, and
// every request is remembered with its time. Works in virtual time.
#pragma once

#include "millwright/kube/transport.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millwright::kube::test {

namespace json = boost::json;
using namespace std::chrono_literals;

inline const base::TimePoint kStart = *base::parse_rfc3339("2026-01-01T00:00:00Z");

inline json::value parse(std::string_view text) {
  auto parsed = model::parse_json(text);
  return parsed ? *std::move(parsed) : json::value("not JSON: " + parsed.error().message);
}

inline net::Response status_answer(int code, std::string_view reason, std::string_view message) {
  const json::value status{{"kind", "Status"},   {"apiVersion", "v1"}, {"status", "Failure"},
                           {"message", message}, {"reason", reason},   {"code", code}};
  return net::Response::json(code, json::serialize(status));
}

inline net::Response ok(const json::value& body) {
  return net::Response::json(200, json::serialize(body));
}

struct Seen {
  ApiRequest request;
  base::TimePoint time;
};

// A watch that the test plays.
class FakeStream {
 public:
  FakeStream(base::Loop& loop, ApiRequest request, std::function<void(std::string_view)> on_chunk)
      : request_(std::move(request)), on_chunk_(std::move(on_chunk)), done_(loop) {}

  const std::string& path() const { return request_.path; }
  // Also after the end: what was on its way still comes.
  void send(std::string_view chunk) { on_chunk_(chunk); }
  void event(std::string_view type, const json::value& object) {
    send(json::serialize(json::value{{"type", type}, {"object", object}}) + "\n");
  }
  void end(base::Result<net::Response> result = net::Response{}) {
    ended_ = true;
    done_.set(std::move(result));
  }
  bool ended() const { return ended_; }
  auto wait() const { return done_.get(); }

 private:
  ApiRequest request_;
  std::function<void(std::string_view)> on_chunk_;
  base::Promise<base::Result<net::Response>> done_;
  bool ended_ = false;
};

class FakeTransport final : public Transport {
 public:
  using Answer = std::function<base::Result<net::Response>(const ApiRequest&)>;

  explicit FakeTransport(base::Loop& loop) : loop_(loop) {}

  base::Task<base::Result<net::Response>> call(ApiRequest request, std::stop_token stop) override {
    seen.push_back({request, loop_.now()});
    const bool waited = co_await base::sleep(loop_, latency, stop);
    if (!waited) {
      co_return base::fail(base::ErrorKind::Cancelled, "stopped");
    }
    if (!scripted.empty()) {
      auto next = std::move(scripted.front());
      scripted.pop_front();
      co_return next;
    }
    co_return answer(request);
  }

  base::Task<base::Result<net::Response>> stream(ApiRequest request,
                                                 std::function<void(std::string_view)> on_chunk,
                                                 std::stop_token stop) override {
    seen.push_back({request, loop_.now()});
    if (refuse_stream) {
      auto refusal = refuse_stream(request);
      if (refusal) {
        co_await base::yield(loop_);
        co_return *std::move(refusal);
      }
    }
    auto stream = std::make_shared<FakeStream>(loop_, std::move(request), std::move(on_chunk));
    streams.push_back(stream);
    const std::stop_callback on_stop(
        stop, [&stream] { stream->end(base::fail(base::ErrorKind::Cancelled, "stopped")); });
    co_return co_await stream->wait();
  }

  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const auto& one : seen) {
      all.push_back(one.request.method + " " + one.request.path);
    }
    return all;
  }

  base::Duration latency = 1ms;
  std::deque<base::Result<net::Response>> scripted;  // used up before `answer`
  Answer answer = [](const ApiRequest&) {
    return status_answer(404, "NotFound", "nothing is here");
  };
  std::function<std::optional<net::Response>(const ApiRequest&)> refuse_stream;
  std::vector<Seen> seen;
  std::vector<std::shared_ptr<FakeStream>> streams;

 private:
  base::Loop& loop_;
};

// Runs one task to its end on virtual time.
template <class T>
T run(base::VirtualLoop& loop, base::Task<T> task, base::Duration limit = 10min) {
  std::optional<T> result;
  const auto store = [](base::Task<T> inner, std::optional<T>* out) -> base::Task<void> {
    out->emplace(co_await std::move(inner));
  };
  base::TaskGroup group(loop);
  group.spawn(store(std::move(task), &result));
  loop.run_until([&] { return result.has_value(); }, limit);
  if (!result) {
    throw std::runtime_error("the task did not end in time");
  }
  return *std::move(result);
}

}  // namespace millwright::kube::test
