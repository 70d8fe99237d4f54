#include "plane/flood/steady_caller.hpp"

#include "millwright/base/loop.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace millwright::plane {
namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

struct SteadyCaller::State {
  explicit State(SteadyCallerOptions what)
      : options(std::move(what)),
        client(net::make_client(loop, options.tls)),
        thread([this](std::stop_token stop) { call_until(std::move(stop)); }) {}

  void call_until(std::stop_token stop) {
    auto due = SteadyClock::now();
    std::mutex mutex;
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      call();
      due = std::max<SteadyClock::time_point>(due + options.beat, SteadyClock::now());
      std::unique_lock lock(mutex);
      never.wait_until(lock, stop, due, [] { return false; });
    }
  }

  void call() {
    net::ClientRequest request;
    request.method = "POST";
    request.url = options.url;
    request.body = options.body;
    request.timeout = options.time_limit;
    request.connect_timeout = options.time_limit;
    request.headers.set("Content-Type", "application/json");
    const auto begun = SteadyClock::now();
    const auto answer = client->send_blocking(std::move(request));
    const std::chrono::duration<double, std::milli> took = SteadyClock::now() - begun;
    if (answer && answer->status == 200) {
      calls.milliseconds.push_back(took.count());
      return;
    }
    if (calls.failed++ == 0) {
      calls.first_failure = answer ? answer->body : answer.error().message;
    }
  }

  SteadyCallerOptions options;
  base::RealLoop loop;  // never run: the client is only used blocking
  std::unique_ptr<net::Client> client;
  Calls calls;  // of the thread, until it has ended
  std::jthread thread;
};

SteadyCaller::SteadyCaller(SteadyCallerOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

SteadyCaller::~SteadyCaller() = default;

SteadyCaller::Calls SteadyCaller::finish() {
  state_->thread.request_stop();
  if (state_->thread.joinable()) {
    state_->thread.join();
  }
  std::sort(state_->calls.milliseconds.begin(), state_->calls.milliseconds.end());
  return state_->calls;
}

double quantile_of(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) {
    return 0;
  }
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace millwright::plane
