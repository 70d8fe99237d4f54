#include "simulate/world/world.hpp"

#include "millwright/app/cluster_clock.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/model/codec.hpp"
#include "simulate/world/checks.hpp"
#include "simulate/world/draws.hpp"
#include "simulate/world/pinned_caller.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace millwright::test {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::TimePoint kBegin{std::chrono::hours(24) * 20'000};
// No claim comes or goes: the world is at rest. To evict pods costs more until they are ten minutes
// old, and nodes are looked at once more within another minute.
constexpr auto kQuietFor = minutes(11);
// A backup is hours old, so that the restored history does not reach in a minute what was heard of
// the lost one.
constexpr std::uint64_t kLostVersions = 100'000;
constexpr auto kRestWithin = minutes(45);
// A node that took the pods of another takes none for consolidateAfter: nodes may go one by one.
constexpr int kNodesAtMost = 10;
constexpr auto kWatchedRest = minutes(6);

base::Duration fixed(base::Duration time) {
  return std::max<base::Duration>(time, milliseconds(1));
}

sandbox::WorldOptions world_options(const Schedule& schedule) {
  sandbox::WorldOptions options;
  options.seed = schedule.seed;
  options.replica_pods_per_second = schedule.pods_per_second;
  options.scheduler.bind_latency = fixed(schedule.bind_latency);
  options.kubelet.ready_after = schedule.ready;
  // A pod that nobody wakes is not saved by kube-scheduler's own timer.
  options.scheduler.unschedulable_flush = std::chrono::hours(10);
  return options;
}

std::unique_ptr<WorldCloud> make_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                       MachineListener& listener) {
  switch (schedule.cloud) {
    case Cloud::Aws:
      return make_aws_cloud(loop, schedule, listener);
    case Cloud::Alibaba:
      return make_alibaba_cloud(loop, schedule, listener);
    case Cloud::Huawei:
      return make_huawei_cloud(loop, schedule, listener);
    default:
      return make_kwok_cloud(loop, schedule, listener);
  }
}

std::string pool_manifest(const Schedule& schedule, const WorldCloud& cloud) {
  return fmt::format(
      R"(
apiVersion: v1
kind: Service
metadata: {{name: millwright-extender, namespace: default}}
spec: {{ports: [{{name: https, port: 443}}]}}
---
{}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  limits: {{cpu: {}}}
  disruption: {{consolidateAfter: {}s, budgets: [{{nodes: "{}"}}]}}
  template:
    spec:
      nodeClassRef: {{{}, name: default}}
      requirements:
      - {{key: kubernetes.io/os, operator: In, values: [linux]}}
)",
      cloud.node_class(), schedule.limit_cpus,
      std::chrono::duration_cast<seconds>(schedule.consolidate_after).count(), schedule.budget,
      cloud.node_class_ref());
}

}  // namespace

SimulatedWorld::SimulatedWorld(Schedule schedule)
    : schedule_(std::move(schedule)),
      loop_(kBegin),
      begin_(kBegin),
      random_(schedule_.seed),
      clock_random_(schedule_.seed),
      hostile_random_(schedule_.seed),
      cloud_(make_cloud(loop_, schedule_, *this)),
      checks_(std::make_unique<Checks>(*this)) {
  auto options = world_options(schedule_);
  options.kubelet.on_register = [this](json::value& node) { register_node(node); };
  world_ = std::make_unique<sandbox::World>(loop_, std::move(options));
  world_->set_extender(std::make_shared<PinnedCaller>(*this, schedulers_));
  world_->recorder().on_change([this] { checks_->look_at_event(); });
  for (const auto* resource :
       {&model::kPodResource, &model::kNodeResource, &model::kNodeClaimResource}) {
    watches_.push_back(world_->api().watch(*resource, [this](const sandbox::Event& event) {
      note(model::text_at(*event.object, "metadata.name"));
      note(std::to_string(event.version));
    }));
  }
  apply(pool_manifest(schedule_, *cloud_));
  for (int i = 0; i < schedule_.replicas; ++i) {
    start_replica();
  }
  world_->start();
}

SimulatedWorld::~SimulatedWorld() {
  watches_.clear();
  world_->recorder().on_change({});
  for (auto& replica : replicas_) {
    replica->kill();
  }
  world_->stop();
}

void SimulatedWorld::note(std::string_view what) {
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  const auto put = [this](std::uint64_t byte) { trace_ = (trace_ ^ byte) * kPrime; };
  put(static_cast<std::uint64_t>(age().count()));
  for (const char letter : what) {
    put(static_cast<unsigned char>(letter));
  }
}

void SimulatedWorld::edit(const model::Resource& resource, const std::string& name,
                          const std::function<void(json::value&)>& change,
                          std::string_view subresource) {
  const std::string space = resource.namespaced ? "default" : "";
  static_cast<void>(
      world_->api().update(resource, {.namespace_ = space, .name = name}, change, subresource));
}

void SimulatedWorld::apply(const std::string& yaml) {
  const auto documents = model::parse_yaml(yaml);
  if (!documents) {
    throw std::runtime_error(documents.error().message);
  }
  for (const auto& document : *documents) {
    const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                               std::string(document.at("kind").as_string()));
    const auto created = world_->api().create(*resource, document);
    if (!created) {
      throw std::runtime_error(created.error().message);
    }
  }
}

void SimulatedWorld::start_replica() {
  const auto number = replicas_.size() + 1;
  const std::string name = "r" + std::to_string(number);
  auto network = std::make_shared<Network>(loop_, world_->transport(), trouble_, random_.fork());
  networks_[name] = network;
  auto times = std::make_shared<base::Random>(random_.next());
  Replica::Parts parts{.loop = loop_,
                       .world = *world_,
                       .name = name,
                       .address = "10.0.0." + std::to_string(number),
                       .seed = random_.next(),
                       .on_write = [this](Write write) { wrote(std::move(write)); }};
  parts.provider = [this, name, seed = parts.seed](base::Loop& loop, base::Metrics& metrics,
                                                   auto on_write) {
    const auto on_change = [this, name](std::string what) {
      changes_cloud({.replica = name, .what = std::move(what), .time = now()});
    };
    return cloud_->provider({.loop = loop,
                             .metrics = metrics,
                             .on_write = std::move(on_write),
                             .on_change = on_change,
                             .seed = seed});
  };
  parts.transport = network;
  parts.options.registration_timeout = schedule_.registration_limit;
  parts.ahead = clock_of((number - 1) % static_cast<std::size_t>(schedule_.replicas));
  parts.solve_time = [times, most = schedule_.solve_time] { return draw_up_to(*times, most); };
  replicas_.push_back(std::make_unique<Replica>(std::move(parts)));
}

void SimulatedWorld::changes_cloud(const Write& write) {
  note(write.what);
  checks_->changes_cloud(write);
}

// As `millwright controller` begins: with the API server's time where that is known, to the second,
// and the machine's is far from it.
base::Duration SimulatedWorld::clock_of(std::size_t machine) {
  if (schedule_.clocks.empty()) {
    return {};
  }
  const base::TimePoint clock = now() + schedule_.clocks.at(machine);
  const bool is_told = !schedule_.clocks_are_wild || clock_random_.below(2) == 0;
  const auto told =
      is_told ? std::optional<base::TimePoint>(std::chrono::floor<seconds>(now())) : std::nullopt;
  return app::choose_start(clock, told) - now();
}

base::Duration SimulatedWorld::most_ahead() const {
  base::Duration most{};
  for (const auto& replica : replicas_) {
    most = std::max(most, replica->ahead());
  }
  return most;
}

void SimulatedWorld::wrote(Write write) {
  note(write.what);
  checks_->wrote(write);
}

Replica* SimulatedWorld::leader() const {
  for (const auto& replica : replicas_) {
    if (!replica->killed() && replica->leadership().holds()) {
      return replica.get();
    }
  }
  return nullptr;
}

Replica* SimulatedWorld::led_to() {
  const auto slice = world_->api().get(model::kEndpointSliceResource,
                                       {.namespace_ = "default", .name = "millwright-extender"});
  if (!slice) {
    return nullptr;
  }
  const std::string text = json::serialize((*slice)->at("endpoints"));
  for (const auto& replica : replicas_) {
    if (text.find("\"" + replica->address() + "\"") != std::string::npos) {
      return replica.get();
    }
  }
  return nullptr;
}

std::map<std::string, std::size_t> SimulatedWorld::wanted_pods(const model::Resource& workloads) {
  std::map<std::string, std::size_t> wanted;
  for (const auto& workload : world_->api().list(workloads)) {
    const auto* replicas = model::find_path(*workload, "spec.replicas");
    wanted[std::string(model::text_at(*workload, "metadata.name"))] =
        replicas == nullptr ? 1 : replicas->to_number<std::size_t>();
  }
  return wanted;
}

std::size_t SimulatedWorld::withdrawn_pods(base::TimePoint since) const {
  std::size_t pods = 0;
  std::for_each(withdrawn_.lower_bound(since), withdrawn_.end(),
                [&](const auto& withdrawn) { pods += withdrawn.second; });
  return pods;
}

Replica* SimulatedWorld::chosen(int which) {
  std::vector<Replica*> alive;
  for (const auto& replica : replicas_) {
    if (!replica->killed()) {
      alive.push_back(replica.get());
    }
  }
  return alive.empty() ? nullptr : alive.at(static_cast<std::size_t>(which) % alive.size());
}

void SimulatedWorld::launched(const cloud::Instance& instance,
                              std::shared_ptr<const model::NodeClaim> claim, base::Duration boot) {
  machines_[instance.provider_id] = {.launched = now(), .node = instance.node_name};
  cloud::Instance reported = instance;
  if (bad_kubelets_.percent) {
    poor_[instance.provider_id] = instance.allocatable;
    reported.allocatable[std::string(model::kCpu)] = model::Quantity::from_milli(
        model::get(instance.allocatable, model::kCpu).milli() * *bad_kubelets_.percent / 100);
  }
  if (bad_kubelets_.lie_as_some) {
    liars_[instance.provider_id] = *bad_kubelets_.lie_as_some;
  }
  world_->kubelet().launched(reported, std::move(claim), boot + bad_kubelets_.late);
}

// Some machines are launched for several claims at once: whose each is, their claims say.
void SimulatedWorld::learn_owners() {
  for (auto& [id, machine] : machines_) {
    if (!machine.claim_uid.empty()) {
      continue;
    }
    machine.claim_uid = cloud_->claim_uid_of(id);
    for (const auto& [uid, claim] : recorder().claims()) {
      if (!claim.gone && claim.last->provider_id == id) {
        machine.claim_uid = uid;
      }
    }
  }
}

void SimulatedWorld::terminating(const std::string& provider_id) {
  if (const auto machine = machines_.find(provider_id); machine != machines_.end()) {
    checks_->ends(provider_id);
    machine->second.ending = true;
  }
  world_->kubelet().terminating(provider_id);
}

void SimulatedWorld::terminated(const std::string& provider_id) {
  machines_.erase(provider_id);
  world_->kubelet().terminated(provider_id);
}

// Nothing moves, no claim has come or gone for a while, and each instance has one.
bool SimulatedWorld::is_at_rest() const {
  base::TimePoint newest = *healed_;
  for (const auto& [uid, claim] : recorder().claims()) {
    newest = std::max({newest, claim.created, claim.gone.value_or(claim.created)});
    if (!claim.gone &&
        (claim.deleting || !model::is_true(claim.last->conditions, model::kInitialized) ||
         !machines_.contains(claim.last->provider_id))) {
      return false;
    }
  }
  for (const auto& [id, machine] : machines_) {
    const auto claim = recorder().claims().find(machine.claim_uid);
    // The notice of one that is taken back may be forgotten, with what was done about it.
    if (claim == recorder().claims().end() || claim->second.gone || machine.interrupted) {
      return false;
    }
  }
  const auto& pods = recorder().pods();
  return now() - newest >= kQuietFor && leader() != nullptr &&
         std::all_of(pods.begin(), pods.end(), [](const auto& item) {
           return item.second.gone || (item.second.running && !item.second.deleting);
         });
}

std::vector<Violation> SimulatedWorld::run() {
  for (const Step& step : schedule_.steps) {
    if (step.act == Act::Restore) {
      const base::Duration then = backup_age(step);
      loop_.at(begin_ + then, [this, then] {
        backups_[then] = world_->api().back_up();
        world_->api().skip_versions(kLostVersions);
      });
    }
    loop_.at(begin_ + step.at, [this, step] { carry_out(step); });
  }
  bool at_rest = false;
  std::function<void()> tick = [&] {
    for (const auto& replica : replicas_) {
      if (replica->stuck() && !replica->killed()) {
        replace(*replica, seconds(5));  // its process has ended itself
      }
      if (replica->take_rewound() && !replica->killed()) {
        end(*replica, seconds(5));
      }
    }
    learn_owners();
    checks_->look_at_second();
    at_rest = healed_ && is_at_rest();
    loop_.after(seconds(1), tick);
  };
  loop_.after(seconds(1), tick);
  const auto broken = [this] { return !checks_->found().empty(); };
  loop_.run_until(
      [&] {
        crash_when_due();
        return broken();
      },
      kTrouble);
  healed_ = now();
  if (!broken()) {
    loop_.run_until([&] { return broken() || at_rest; },
                    kRestWithin + kNodesAtMost * schedule_.consolidate_after);
  }
  if (!broken()) {
    checks_->look_at_rest(at_rest);
    loop_.run_until(broken, kWatchedRest);
    checks_->look_at_rest(true);
  }
  return checks_->found();
}

Outcome simulate(const Schedule& schedule) {
  SimulatedWorld world(schedule);
  Outcome outcome;
  outcome.violations = world.run();
  outcome.trace = world.trace();
  outcome.lasted = world.age();
  return outcome;
}

Schedule shrink(Schedule schedule, const std::string& check) {
  for (std::size_t size = std::max<std::size_t>(schedule.steps.size() / 2, 1); size > 0;
       size /= 2) {
    for (std::size_t first = 0; first < schedule.steps.size();) {
      Schedule smaller = schedule;
      const auto from = smaller.steps.begin() + static_cast<std::ptrdiff_t>(first);
      const auto count = std::min(size, smaller.steps.size() - first);
      smaller.steps.erase(from, from + static_cast<std::ptrdiff_t>(count));
      const auto found = simulate(smaller).violations;
      if (!found.empty() && found.front().check == check) {
        schedule = std::move(smaller);
      } else {
        first += count;
      }
    }
  }
  return schedule;
}

}  // namespace millwright::test
