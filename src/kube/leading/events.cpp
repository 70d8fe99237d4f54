// core/v1 Events. Like client-go's recorder a repeated event counts up the one that exists rather
// than adding another; like Karpenter's, repeats within a short time are not sent at all.
#include "millwright/kube/events.hpp"

#include "kube/calls/pacing.hpp"

#include <boost/json/value.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <list>
#include <utility>

namespace millwright::kube {
namespace {

namespace json = boost::json;
using base::ErrorKind;

constexpr std::size_t kMaxQueue = 1000;
constexpr std::size_t kMaxRemembered = 8192;
constexpr double kPerSecond = 20;
constexpr double kBurst = 100;
constexpr int kAttempts = 5;
constexpr std::chrono::milliseconds kMaxEventRetryAfter{30'000};
constexpr std::chrono::seconds kDrainTime{5};
// Limits of the events API (and of client-go's recorder for core/v1).
constexpr std::size_t kMaxMessage = 1024;
constexpr std::size_t kMaxReason = 128;
constexpr std::size_t kMaxName = 253;

// Cut where a character begins.
std::string truncated(std::string text, std::size_t limit) {
  if (text.size() > limit) {
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0U) == 0x80U) {
      --limit;
    }
    text.resize(limit);
  }
  return text;
}

// What makes two events the same: object, reason and values.
std::string identity_of(const Event& event) {
  std::string identity;
  const auto add = [&identity](std::string_view part) { identity.append(part).push_back('\x1f'); };
  add(event.object.api_version);
  add(event.object.kind);
  add(event.object.key.namespace_);
  add(event.object.key.name);
  add(event.object.uid);
  add(event.reason);
  if (event.dedupe_values.empty()) {
    add(event.message);
  }
  for (const auto& value : event.dedupe_values) {
    add(value);
  }
  return identity;
}

// What was sent last for one identity.
struct Remembered {
  std::string identity;
  base::TimePoint recorded;
  std::string name;  // of the Event object; empty until one was made
  std::string message;
  bool warning = false;
  std::int64_t count = 0;
};

// The most recently used first; bounded.
class Memory {
 public:
  Remembered* find(const std::string& identity) {
    const auto found = by_identity_.find(identity);
    return found == by_identity_.end() ? nullptr : &*found->second;
  }
  void touch(const std::string& identity, base::TimePoint now) {
    const auto found = by_identity_.find(identity);
    if (found != by_identity_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
    } else {
      entries_.push_front({.identity = identity, .recorded = {}, .name = {}, .message = {}});
      by_identity_.emplace(identity, entries_.begin());
    }
    entries_.front().recorded = now;
    if (entries_.size() > kMaxRemembered) {
      by_identity_.erase(entries_.back().identity);
      entries_.pop_back();
    }
  }

 private:
  std::list<Remembered> entries_;
  std::map<std::string, std::list<Remembered>::iterator> by_identity_;
};

struct Pending {
  Event event;
  std::string identity;
  base::TimePoint time;
  std::string name;  // chosen at the first attempt, so that a repeated create is recognised
};

}  // namespace

struct EventRecorder::State {
  State(Client& c, std::string who, std::uint64_t seed, base::Logger l)
      : client(c), component(std::move(who)), random(seed), log(std::move(l)), signal(c.loop()) {}

  base::Task<void> send_next(std::stop_token stop);
  base::Task<base::Result<>> deliver(std::stop_token stop);
  json::value new_object();

  Client& client;
  std::string component;
  base::Random random;
  base::Logger log;
  base::Signal signal;
  TokenBucket bucket{kPerSecond, kBurst};
  std::deque<Pending> queue;
  Pending pending;  // the one being sent
  Memory memory;
  std::uint64_t dropped = 0;
};

json::value EventRecorder::State::new_object() {
  const auto& object = pending.event.object;
  if (pending.name.empty()) {
    std::array<char, 17> suffix{};
    std::snprintf(suffix.data(), suffix.size(), "%016llx",
                  static_cast<unsigned long long>(random.next()));
    auto stem = truncated(object.key.name, kMaxName - suffix.size());
    while (!stem.empty() && (stem.back() == '.' || stem.back() == '-')) {
      stem.pop_back();
    }
    pending.name = stem + "." + suffix.data();
  }
  // Events about cluster-scoped objects live in "default", as client-go's do.
  const std::string ns = object.key.namespace_.empty() ? "default" : object.key.namespace_;
  const auto time = base::format_rfc3339(pending.time);
  json::object involved{
      {"apiVersion", object.api_version}, {"kind", object.kind}, {"name", object.key.name}};
  if (!object.key.namespace_.empty()) {
    involved["namespace"] = object.key.namespace_;
  }
  if (!object.uid.empty()) {
    involved["uid"] = object.uid;
  }
  return {{"metadata", {{"name", pending.name}, {"namespace", ns}}},
          {"involvedObject", std::move(involved)},
          {"reason", pending.event.reason},
          {"message", pending.event.message},
          {"type", pending.event.warning ? "Warning" : "Normal"},
          {"count", 1},
          {"firstTimestamp", time},
          {"lastTimestamp", time},
          {"source", {{"component", component}}},
          {"reportingComponent", component},
          {"reportingInstance", ""}};
}

base::Task<base::Result<>> EventRecorder::State::deliver(std::stop_token stop) {
  const auto* before = memory.find(pending.identity);
  if (before != nullptr && !before->name.empty() && before->message == pending.event.message &&
      before->warning == pending.event.warning) {
    const std::int64_t count = before->count + 1;
    const auto& ns = pending.event.object.key.namespace_;
    model::ObjectKey key{.namespace_ = ns.empty() ? "default" : ns, .name = before->name};
    json::value patch{{"count", count}, {"lastTimestamp", base::format_rfc3339(pending.time)}};
    auto counted = co_await client.patch(model::kEventResource, std::move(key), PatchType::Merge,
                                         std::move(patch), {}, stop);
    if (counted) {
      if (auto* entry = memory.find(pending.identity)) {
        entry->count = count;
      }
      co_return base::Result<>();
    }
    if (counted.error().kind != ErrorKind::NotFound) {
      co_return tl::unexpected(std::move(counted).error());
    }
    // The API server forgets events after a while: begin a new one.
  }
  auto object = new_object();
  auto created = co_await client.create(model::kEventResource, std::move(object), stop);
  if (!created && created.error().kind != ErrorKind::Exists) {
    co_return tl::unexpected(std::move(created).error());
  }
  if (auto* entry = memory.find(pending.identity)) {
    entry->name = pending.name;
    entry->message = pending.event.message;
    entry->warning = pending.event.warning;
    entry->count = 1;
  }
  co_return base::Result<>();
}

base::Task<void> EventRecorder::State::send_next(std::stop_token stop) {
  pending = std::move(queue.front());
  queue.pop_front();
  auto delay = bucket.take(client.loop().now());
  Backoff backoff(std::chrono::seconds(1), std::chrono::seconds(10));
  for (int attempt = 1;; ++attempt) {
    const bool waited = co_await base::sleep(client.loop(), delay, stop);
    if (!waited) {
      queue.push_front(std::move(pending));
      co_return;
    }
    auto sent = co_await deliver(stop);
    if (sent) {
      break;
    }
    if (sent.error().kind == ErrorKind::Cancelled) {
      queue.push_front(std::move(pending));
      co_return;
    }
    if (attempt >= kAttempts || !base::is_retryable(sent.error().kind)) {
      log.warn("an event could not be sent", {{"error", sent.error().message}});
      break;
    }
    delay = std::max<base::Duration>(backoff.next(random),
                                     std::min(sent.error().retry_after, kMaxEventRetryAfter));
  }
  if (dropped > 0) {
    log.warn("events were dropped since the API server could not keep up",
             {{"count", std::to_string(std::exchange(dropped, 0))}});
  }
}

ObjectReference reference_to(const model::Resource& resource, const model::ObjectMeta& meta) {
  return {.api_version = resource.api_version(),
          .kind = std::string(resource.kind),
          .key = model::key_of(meta),
          .uid = meta.uid};
}

EventRecorder::EventRecorder(Client& client, std::string component, std::uint64_t seed,
                             base::Logger log)
    : state_(std::make_unique<State>(client, std::move(component), seed, std::move(log))) {}
EventRecorder::~EventRecorder() = default;

void EventRecorder::record(Event event) {
  event.message = truncated(std::move(event.message), kMaxMessage);
  event.reason = truncated(std::move(event.reason), kMaxReason);
  auto identity = identity_of(event);
  const auto now = state_->client.loop().now();
  const auto* before = state_->memory.find(identity);
  if (before != nullptr && now < before->recorded + event.dedupe_for) {
    return;
  }
  state_->memory.touch(identity, now);
  state_->queue.push_back(
      {.event = std::move(event), .identity = std::move(identity), .time = now, .name = {}});
  if (state_->queue.size() > kMaxQueue) {
    state_->queue.pop_front();
    ++state_->dropped;
  }
  state_->signal.notify();
}

base::Task<void> EventRecorder::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    if (state_->queue.empty()) {
      co_await state_->signal.wait(stop);
      continue;
    }
    co_await state_->send_next(stop);
  }
  Deadline drain(state_->client.loop(), {}, kDrainTime);
  while (!state_->queue.empty() && !drain.token().stop_requested()) {
    co_await state_->send_next(drain.token());
  }
}

}  // namespace millwright::kube
