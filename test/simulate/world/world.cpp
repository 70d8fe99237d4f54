#include "simulate/world/world.hpp"

#include "millwright/base/mutant.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/model/codec.hpp"
#include "simulate/world/checks.hpp"

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
constexpr auto kCallLimit = seconds(2);  // of kube-scheduler's calls
// No claim comes or goes: the world is at rest. To evict pods costs more until they are ten minutes
// old, and nodes are looked at once more within another minute.
constexpr auto kQuietFor = minutes(11);
constexpr auto kRestWithin = minutes(45);
constexpr auto kWatchedRest = minutes(6);

base::Duration fixed(base::Duration time) {
  return std::max<base::Duration>(time, milliseconds(1));
}

base::Duration draw_up_to(base::Random& random, base::Duration most) {
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(most).count();
  return std::chrono::microseconds(random.below(static_cast<std::uint64_t>(whole) + 1));
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

// kube-scheduler's way to the Service: a connection stays with the endpoint that it was made to,
// and ends when it is refused, answered with 503, or not answered in time.
class PinnedCaller final : public sandbox::ExtenderCaller {
 public:
  explicit PinnedCaller(SimulatedWorld& world) : world_(world), random_(world.random_.fork()) {}

  base::Task<base::Result<std::string>> call(std::string verb, std::string body) override {
    const base::TimePoint limit = world_.now() + kCallLimit;
    const std::string uid = verb == "filter" ? uid_of(body) : std::string();
    const auto before = fences();
    world_.filter_calls_[uid] = {};
    Replica* const target = pinned_ == nullptr ? endpoint() : pinned_;
    pinned_ = nullptr;
    const auto there = draw_up_to(random_, world_.extender_latency_);
    const auto back = draw_up_to(random_, world_.extender_latency_);
    co_await base::sleep(world_.loop_, there);
    if (target == nullptr || target->killed()) {
      co_return base::fail(base::ErrorKind::Unavailable, "connection refused");
    }
    if (target->paused()) {
      co_await base::sleep(world_.loop_, limit - world_.now());
      co_return base::fail(base::ErrorKind::Timeout, "no answer in time");
    }
    if (!target->leadership().holds() && !base::planted(base::Mutant::FollowersAnswer)) {
      co_return base::fail(base::ErrorKind::Unavailable, "503");
    }
    const auto caller = sandbox::in_process_extender(target->engine().extender());
    auto answer = co_await caller->call(std::move(verb), std::move(body));
    const auto after = fences();
    co_await base::sleep(world_.loop_, std::min<base::Duration>(back, limit - world_.now()));
    if (world_.now() >= limit) {
      co_return base::fail(base::ErrorKind::Timeout, "no answer in time");
    }
    pinned_ = target;
    FilterCall& call = world_.filter_calls_[uid];
    call.answered = answer.has_value();
    call.refused = answer && lets_none_through(*answer);
    call.ended = world_.now();
    for (const auto& [node, since] : before) {
      const auto still = after.find(node);
      if (still != after.end() && still->second == since) {
        call.fenced.insert(node);
      }
    }
    co_return answer;
  }

 private:
  static std::string uid_of(const std::string& body) {
    const auto parsed = model::parse_json(body);
    return parsed ? std::string(model::text_at(*parsed, "Pod.metadata.uid")) : std::string();
  }
  static bool lets_none_through(const std::string& answer) {
    const auto parsed = model::parse_json(answer);
    const auto* names = parsed ? model::find_path(*parsed, "NodeNames") : nullptr;
    return names != nullptr && names->is_array() && names->get_array().empty();
  }
  // A Service without a selector of its own would lead to any replica.
  Replica* endpoint() {
    return base::planted(base::Mutant::FollowersAnswer)
               ? world_.chosen(static_cast<int>(random_.below(100)))
               : world_.led_to();
  }
  std::map<std::string, base::TimePoint> fences() const {
    std::map<std::string, base::TimePoint> fenced;
    if (Replica* const leader = world_.leader()) {
      const auto view = leader->engine().ledger().view();
      for (const auto& [node, fence] : view->fences_by_node) {
        fenced.emplace(node, fence.since);
      }
    }
    return fenced;
  }

  SimulatedWorld& world_;
  base::Random random_;
  Replica* pinned_ = nullptr;
};

SimulatedWorld::SimulatedWorld(Schedule schedule)
    : schedule_(std::move(schedule)),
      loop_(kBegin),
      begin_(kBegin),
      random_(schedule_.seed),
      cloud_(make_cloud(loop_, schedule_, *this)),
      checks_(std::make_unique<Checks>(*this)) {
  world_ = std::make_unique<sandbox::World>(loop_, world_options(schedule_));
  world_->set_extender(std::make_shared<PinnedCaller>(*this));
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
  parts.provider = [this, seed = parts.seed](base::Loop& loop, base::Metrics& metrics,
                                             auto on_write) {
    return cloud_->provider(
        {.loop = loop, .metrics = metrics, .on_write = std::move(on_write), .seed = seed});
  };
  parts.transport = network;
  parts.solve_time = [times, most = schedule_.solve_time] { return draw_up_to(*times, most); };
  replicas_.push_back(std::make_unique<Replica>(std::move(parts)));
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

std::map<std::string, std::size_t> SimulatedWorld::wanted_pods() {
  std::map<std::string, std::size_t> wanted;
  for (const auto& deployment : world_->api().list(model::kDeploymentResource)) {
    const auto* replicas = model::find_path(*deployment, "spec.replicas");
    wanted[std::string(model::text_at(*deployment, "metadata.name"))] =
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
  world_->kubelet().launched(instance, std::move(claim), boot);
}

// Some machines are launched for several claims at once: whose each is, their claims say.
void SimulatedWorld::learn_owners() {
  for (auto& [id, machine] : machines_) {
    if (!machine.claim_uid.empty()) {
      continue;
    }
    machine.claim_uid = cloud_->claim_uid_of(id);
    for (const auto& [uid, claim] : recorder().claims()) {
      if (claim.last->provider_id == id) {
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
        (claim.deleting || !model::is_true(claim.last->conditions, model::kInitialized))) {
      return false;
    }
  }
  for (const auto& [id, machine] : machines_) {
    const auto claim = recorder().claims().find(machine.claim_uid);
    if (claim == recorder().claims().end() || claim->second.gone) {
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
    loop_.at(begin_ + step.at, [this, step] { carry_out(step); });
  }
  bool at_rest = false;
  std::function<void()> tick = [&] {
    for (const auto& replica : replicas_) {
      if (replica->stuck() && !replica->killed()) {
        replace(*replica, seconds(5));  // its process has ended itself
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
    loop_.run_until([&] { return broken() || at_rest; }, kRestWithin);
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
