#include "sandbox/ha/replica.hpp"

#include "millwright/cloud/leader_only.hpp"
#include "millwright/kube/leader_only.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace millwright::test {
namespace {

base::Logger logger_of(const std::string& name, base::Loop& loop) {
  if (std::getenv("MILLWRIGHT_TEST_LOG") == nullptr) {
    return {};
  }
  return base::Logger(base::stdout_sink(base::LogLevel::Debug, base::LogFormat::Text,
                                        [&loop] { return loop.now(); }),
                      name);
}

}  // namespace

base::Task<base::Result<net::Response>> Wire::call(kube::ApiRequest request, std::stop_token stop) {
  if (cut_) {
    co_await base::yield(loop_);
    co_return base::fail(base::ErrorKind::Unavailable, "no route to host");
  }
  if (request.method != "GET" && on_write) {
    on_write(request);
  }
  const base::Duration delay = late ? late(request) : base::Duration::zero();
  if (delay > base::Duration::zero()) {
    on_the_way_.spawn(send_late(world_, inner_, std::move(request), delay));
    co_await base::yield(loop_);
    co_return base::fail(base::ErrorKind::Timeout, "no answer in time");
  }
  auto reply = co_await inner_->call(std::move(request), std::move(stop));
  co_await base::yield(loop_);  // a stopped process sees it later
  co_return reply;
}

base::Task<void> Wire::send_late(base::Loop& loop, std::shared_ptr<kube::Transport> inner,
                                 kube::ApiRequest request, base::Duration delay) {
  co_await base::sleep(loop, delay);
  co_await inner->call(std::move(request), {});
}

base::Task<base::Result<net::Response>> Wire::stream(kube::ApiRequest request,
                                                     std::function<void(std::string_view)> on_chunk,
                                                     std::stop_token stop) {
  if (cut_) {
    co_await base::yield(loop_);
    co_return base::fail(base::ErrorKind::Unavailable, "no route to host");
  }
  const base::EitherStop either(stop, cuts_.get_token());
  const auto alive = std::make_shared<bool>(true);
  const std::shared_ptr<void> end(nullptr, [alive](void*) { *alive = false; });
  auto deliver = [this, on_chunk = std::move(on_chunk), alive](std::string_view chunk) {
    loop_.post([on_chunk, alive, text = std::string(chunk)] {
      if (*alive) {
        on_chunk(text);
      }
    });
  };
  auto reply = co_await inner_->stream(std::move(request), std::move(deliver), either.token());
  co_await base::yield(loop_);
  if (!reply && !stop.stop_requested()) {
    co_return base::fail(base::ErrorKind::Unavailable, "the connection was cut");
  }
  co_return reply;
}

void Wire::cut(bool cut) {
  cut_ = cut;
  if (cut) {
    end_watches();
  }
}

Replica::Replica(Parts parts)
    : parts_(std::move(parts)),
      loop_(parts_.loop, parts_.ahead),
      compute_(loop_, parts_.solve_time),
      leadership_(loop_) {
  const auto note = [this](std::string what) {
    parts_.on_write({.replica = parts_.name, .what = std::move(what), .time = parts_.loop.now()});
  };
  const auto log = logger_of(parts_.name, loop_);
  wire_ = std::make_shared<Wire>(loop_, parts_.loop,
                                 parts_.transport ? parts_.transport : parts_.world.transport());
  wire_->on_write = [note](const kube::ApiRequest& request) {
    if (request.path.find("/leases") == std::string::npos) {
      note(request.method + " " + request.path);
    }
  };
  lease_client_ = std::make_unique<kube::Client>(loop_, wire_);
  leader_client_ = std::make_unique<kube::Client>(loop_, kube::leader_only(wire_, leadership_));
  providers_.add(cloud::leader_only(parts_.provider(loop_, metrics_, note), leadership_));
  engine_ =
      std::make_unique<app::Engine>(app::EngineParts{.loop = loop_,
                                                     .compute = compute_,
                                                     .client = *leader_client_,
                                                     .providers = providers_,
                                                     .metrics = metrics_,
                                                     .log = log,
                                                     .options = parts_.options,
                                                     .policy = {},
                                                     .seed = parts_.seed,
                                                     .on_rewound = [this] { rewound_ = true; }});
  controllers::ExtenderEndpointOptions endpoint;
  endpoint.namespace_ = "default";
  endpoint.address = parts_.address;
  leading_ = std::make_unique<app::Leading>(app::LeadingParts{.loop = loop_,
                                                              .engine = *engine_,
                                                              .client = *leader_client_,
                                                              .serving = [] { return true; },
                                                              .endpoint = std::move(endpoint)});
  kube::LeaderElectionOptions election;
  election.namespace_ = "default";
  election.identity = parts_.name;
  kube::LeaderDuties duties;
  duties.lead = [this](std::stop_token stop) { return lead(std::move(stop)); };
  duties.on_end = [] {};
  duties.on_stuck = [this] { stuck_ = true; };
  duties.on_rewound = [this] { rewound_ = true; };
  duties.is_rewound = [this] { return rewound_; };
  tasks_ = std::make_unique<base::TaskGroup>(loop_);
  tasks_->spawn(engine_->watch(tasks_->stop_token()));
  tasks_->spawn(kube::run_leader_election(*lease_client_, std::move(election), leadership_,
                                          std::move(duties), log.named("leader-election"),
                                          tasks_->stop_token()));
}

Replica::~Replica() = default;

base::Task<void> Replica::lead(std::stop_token stop) {
  began_ = loop_.now();
  most_at_once_ = std::max(most_at_once_, ++terms_now_);
  co_await leading_->run(std::move(stop));
  --terms_now_;
}

}  // namespace millwright::test
