#include "millwright/controllers/process/calling_scheduler.hpp"

#include "millwright/controllers/process/extender_endpoint.hpp"

#include <boost/json.hpp>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

// Several replicas and API servers have clocks of their own.
constexpr auto kTellAgain = std::chrono::minutes(1);
constexpr auto kRecent = std::chrono::minutes(10);
// A pod's creation time has whole seconds, and a Service takes a moment to know its endpoints.
constexpr auto kEndpointsKnownAfter = std::chrono::seconds(5);
constexpr Wiring kAll[] = {Wiring::Extender, Wiring::SecondScheduler, Wiring::Alone};

std::string expected_scheduler(const std::optional<Wiring>& configured) {
  return std::string(configured == Wiring::SecondScheduler ? kSecondScheduler
                                                           : std::string_view("default-scheduler"));
}

}  // namespace

std::string_view to_string(Wiring wiring) {
  switch (wiring) {
    case Wiring::Extender:
      return "extender";
    case Wiring::SecondScheduler:
      return "second-scheduler";
    case Wiring::Alone:
      break;
  }
  return "alone";
}

std::optional<Wiring> parse_wiring(std::string_view text) {
  for (const auto wiring : kAll) {
    if (text == to_string(wiring)) {
      return wiring;
    }
  }
  return std::nullopt;
}

std::string scheduler_in(std::string_view request) {
  // Inside a JSON text a quote is escaped, so these characters can only be a key.
  constexpr std::string_view kKey = "\"schedulerName\":\"";
  const std::size_t at = request.find(kKey);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = request.substr(at + kKey.size());
  constexpr std::size_t kLongestName = 253;  // of an object
  const std::size_t end = rest.substr(0, kLongestName + 1).find('"');
  return end == std::string_view::npos ? std::string() : std::string(rest.substr(0, end));
}

const model::Pod* placed_since(const scheduling::Snapshot& snapshot, base::TimePoint since,
                               std::string_view scheduler) {
  for (const auto& record : snapshot.nodes) {
    for (const auto& pod : record->pods) {
      const auto& created = pod->meta.creation_timestamp;
      if (created && *created >= since && !model::is_owned_by_daemonset(*pod) &&
          !model::is_mirror(*pod) && (scheduler.empty() || pod->spec.scheduler_name == scheduler)) {
        return pod.get();
      }
    }
  }
  return nullptr;
}

CallingScheduler::CallingScheduler(kube::Client& client, cluster::State& state,
                                   base::Metrics& metrics, CallingSchedulerOptions options)
    : client_(client),
      state_(state),
      metrics_(metrics),
      options_(std::move(options)),
      log_(options_.log),
      events_(client, "millwright", options_.seed, log_) {}

void CallingScheduler::called(std::string_view request) {
  if (called_.load(std::memory_order_relaxed)) {
    return;  // known since the last look
  }
  const std::string scheduler = scheduler_in(request);
  if (scheduler.empty()) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  caller_ = scheduler;
  called_.store(true, std::memory_order_release);
}

void CallingScheduler::serving() {
  if (!serving_since_) {
    serving_since_ = client_.loop().now();
  }
}

base::Task<void> CallingScheduler::run(std::stop_token stop) {
  log_.info("scheduler wiring",
            {{"installed",
              std::string(options_.configured ? to_string(*options_.configured) : "not said")}});
  base::TaskGroup group(client_.loop());
  group.spawn(events_.run(stop));
  while (true) {
    const bool slept = co_await base::sleep(client_.loop(), options_.look_again, stop);
    if (!slept) {
      break;
    }
    if (const auto since = serving_since_) {
      co_await look(*since);
    }
  }
  co_await group.join();
}

base::Task<void> CallingScheduler::look(base::TimePoint serving_since) {
  const auto now = client_.loop().now();
  const bool own = called_.exchange(false, std::memory_order_acquire);
  if (own) {
    {
      const std::scoped_lock lock(mutex_);
      scheduler_ = caller_;
    }
    was_called_ = true;
    const bool due = !told_ || now - *told_ >= kTellAgain;
    if (due && options_.configured != Wiring::Alone) {
      auto told = co_await tell();
      if (told) {
        told_ = now;
      } else {
        log_.warn("cannot say for the other replicas that the extender is called",
                  {{"Lease", options_.namespace_ + "/" + std::string(kExtenderLease)},
                   {"error", told.error().message}});
      }
    }
  } else if (!was_called_ && options_.configured != Wiring::Alone) {
    co_await ask();
  }
  judge(serving_since);
}

base::Task<base::Result<>> CallingScheduler::tell() {
  const model::ObjectKey key{.namespace_ = options_.namespace_,
                             .name = std::string(kExtenderLease)};
  json::object spec{{"holderIdentity", scheduler_},
                    {"renewTime", base::format_rfc3339_micro(client_.loop().now())}};
  auto lease = co_await client_.get(model::kLeaseResource, key);
  if (lease) {
    lease->as_object()["spec"] = std::move(spec);
    auto written = co_await client_.replace(model::kLeaseResource, *std::move(lease));
    if (!written && written.error().kind != base::ErrorKind::Conflict) {
      co_return tl::unexpected(std::move(written).error());
    }
    co_return base::Result<>{};
  }
  if (lease.error().kind != base::ErrorKind::NotFound) {
    co_return tl::unexpected(std::move(lease).error());
  }
  json::value made{{"apiVersion", model::kLeaseResource.api_version()},
                   {"kind", model::kLeaseResource.kind},
                   {"metadata", {{"namespace", key.namespace_}, {"name", key.name}}},
                   {"spec", std::move(spec)}};
  auto written = co_await client_.create(model::kLeaseResource, std::move(made));
  if (!written && written.error().kind != base::ErrorKind::Exists) {
    co_return tl::unexpected(std::move(written).error());
  }
  co_return base::Result<>{};
}

// Asks the Lease whether another replica was called.
base::Task<void> CallingScheduler::ask() {
  const model::ObjectKey key{.namespace_ = options_.namespace_,
                             .name = std::string(kExtenderLease)};
  auto lease = co_await client_.get(model::kLeaseResource, key);
  if (!lease) {
    co_return;  // there is none, or the API server cannot say: then nothing is concluded from it
  }
  boost::system::error_code error;
  const auto* holder = lease->find_pointer("/spec/holderIdentity", error);
  const auto* renewed = lease->find_pointer("/spec/renewTime", error);
  if (holder == nullptr || !holder->is_string() || renewed == nullptr || !renewed->is_string()) {
    co_return;
  }
  const auto time = base::parse_rfc3339(std::string(renewed->get_string()));
  if (time && client_.loop().now() - *time < kRecent) {
    was_called_ = true;
    scheduler_ = std::string(holder->get_string());
  }
}

void CallingScheduler::judge(base::TimePoint serving_since) {
  const auto now = client_.loop().now();
  if (was_called_) {
    passed_over_since_.reset();
    if (complained_) {
      complained_ = false;
      metrics_.set("millwright_extender_never_called",
                   "1 while the extender is installed and pods are placed without a call.", {}, 0);
    }
    conclude(scheduler_ == kSecondScheduler ? Wiring::SecondScheduler : Wiring::Extender);
    return;
  }
  if (complained_) {
    return;
  }
  const auto snapshot = state_.latest();
  const auto* pod = placed_since(*snapshot, serving_since + kEndpointsKnownAfter,
                                 expected_scheduler(options_.configured));
  if (pod == nullptr) {
    return;
  }
  if (!passed_over_since_) {
    passed_over_since_ = now;
  } else if (now - *passed_over_since_ >= options_.patience) {
    conclude(Wiring::Alone);
    const auto installed = options_.configured;
    if (installed && *installed != Wiring::Alone && leading_) {
      complain(*pod, *installed);
    }
  }
}

void CallingScheduler::conclude(Wiring wiring) {
  if (std::exchange(wiring_, wiring) == wiring) {
    return;
  }
  for (const auto each : kAll) {
    metrics_.set("millwright_scheduler_wiring",
                 "1 for the way in which pods are seen to be scheduled.",
                 {{"wiring", std::string(to_string(each))}}, each == wiring ? 1 : 0);
  }
  if (wiring == Wiring::Alone) {
    log_.info("no scheduler calls the extender; plans are kept by taints alone",
              {{"wiring", "alone"}});
  } else {
    log_.info("a scheduler calls the extender",
              {{"wiring", std::string(to_string(wiring))}, {"scheduler", scheduler_}});
  }
}

void CallingScheduler::complain(const model::Pod& pod, Wiring installed) {
  complained_ = true;
  const std::string placed = pod.meta.namespace_ + "/" + pod.meta.name;
  const std::string message =
      "The extender is installed but never called: pod " + placed + " was placed on node " +
      pod.spec.node_name + " without it. Put the stanza (millwright install --part stanza) into " +
      "the configuration of scheduler " + expected_scheduler(installed) +
      " with this Service's address and CA, or install with --mode alone.";
  metrics_.set("millwright_extender_never_called",
               "1 while the extender is installed and pods are placed without a call.", {}, 1);
  log_.warn("the extender is installed but never called",
            {{"installed", std::string(to_string(installed))}, {"Pod", placed}});
  kube::Event event;
  event.object = {.api_version = "v1",
                  .kind = "Service",
                  .key = {.namespace_ = options_.namespace_, .name = std::string(kExtenderService)},
                  .uid = {}};
  event.warning = true;
  event.reason = "ExtenderNeverCalled";
  event.message = message;
  events_.record(std::move(event));
}

}  // namespace millwright::controllers
