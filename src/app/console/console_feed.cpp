#include "app/console/console_feed.hpp"

#include <algorithm>
#include <utility>

namespace millwright::app {
namespace {

net::Response too_many_streams() {
  auto response = net::Response::text(
      429, "too many consoles are open: close one, or ask again in a few seconds\n");
  response.headers.set("Retry-After", "5");
  return response;
}

net::Headers stream_headers() {
  net::Headers headers;
  headers.set("Content-Type", "text/event-stream");
  headers.set("Cache-Control", "no-store");
  headers.set("X-Content-Type-Options", "nosniff");
  return headers;
}

}  // namespace

void ConsoleFeed::tell(Stream& stream, std::string_view event, std::string_view data) {
  std::string chunk = "event: ";
  chunk.append(event).append("\ndata: ").append(data).append("\n\n");
  stream.exchange->write(std::move(chunk));
}

void ConsoleFeed::end(Stream& stream) {
  if (!stream.closed.exchange(true)) {
    stream.exchange->finish();
  }
}

void ConsoleFeed::sweep() {
  std::erase_if(streams_, [](const auto& stream) { return stream->closed.load(); });
}

void ConsoleFeed::open(const Admitted& caller) {
  sweep();
  const auto of_token = std::ranges::count_if(
      streams_, [&](const auto& stream) { return stream->token == caller.token; });
  if (streams_.size() >= kMostStreams || static_cast<std::size_t>(of_token) >= kMostOfOneToken) {
    caller.exchange->respond(too_many_streams());
    return;
  }
  auto stream = std::make_shared<Stream>();
  stream->token = caller.token;
  stream->exchange = caller.exchange;
  caller.exchange->start(200, stream_headers());
  caller.exchange->on_close([weak = std::weak_ptr(stream)] {
    if (const auto closed = weak.lock()) {
      closed->closed = true;
    }
  });
  if (view_) {
    stream->begun = true;
    tell(*stream, "whole", whole_json(*view_));
  }
  streams_.push_back(stream);
  checks_.spawn(guard(stream));
  wake_.notify();
}

base::Task<void> ConsoleFeed::guard(StreamPtr stream) {
  const auto stop = checks_.stop_token();
  while (!stop.stop_requested() && !stream->closed) {
    const bool goes_on = co_await base::sleep(parts_.loop, parts_.check_again, stop);
    if (!goes_on || stream->closed) {
      co_return;
    }
    const auto refusal = co_await parts_.check(stream->token, stream->exchange->peer());
    if (refusal || !parts_.leads()) {
      end(*stream);
      co_return;
    }
  }
}

base::Task<void> ConsoleFeed::look_and_tell() {
  const auto before = view_;
  auto job = [look = parts_.look, before] {
    return std::make_shared<const ConsoleView>(look(before.get()));
  };
  view_ = co_await base::offload(parts_.loop, parts_.compute, std::move(job),
                                 base::Urgency::Background);
  const bool begins =
      std::ranges::any_of(streams_, [](const auto& stream) { return !stream->begun; });
  const std::string whole = begins ? whole_json(*view_) : std::string();
  std::string event = "changes";
  std::string data = before ? changes_json(*before, *view_) : std::string();
  const auto now = parts_.loop.now();
  if (data.empty() && now - told_ >= parts_.beat) {
    event = "beat";
    data = "{\"time\":\"" + base::format_rfc3339(view_->time) + "\"}";
  }
  told_ = data.empty() ? told_ : now;
  for (const auto& stream : streams_) {
    if (!stream->begun) {
      stream->begun = true;
      tell(*stream, "whole", whole);
    } else if (!data.empty()) {
      tell(*stream, event, data);
    }
  }
}

base::Task<void> ConsoleFeed::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    sweep();
    if (streams_.empty()) {
      view_.reset();
      co_await wake_.wait(stop);
      continue;
    }
    co_await look_and_tell();
    co_await base::sleep(parts_.loop, parts_.pace, stop);
  }
  for (const auto& stream : streams_) {
    end(*stream);
  }
  checks_.request_stop();
  co_await checks_.join();
}

}  // namespace millwright::app
