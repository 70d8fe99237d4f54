#include "sandbox/ha/ha_world.hpp"

#include "millwright/model/codec.hpp"
#include "sandbox/ha/shared_cloud.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace millwright::test {

namespace {

namespace json = boost::json;

constexpr base::TimePoint kHaStart{std::chrono::hours(24) * 20'000};

base::Task<void> count_instances(cloud::Provider& cloud, std::optional<std::size_t>& count) {
  const auto listed = co_await cloud.list();
  count =
      listed
          ? static_cast<std::size_t>(std::count_if(
                listed->begin(), listed->end(), [](const auto& one) { return !one.terminating; }))
          : 0;
}

}  // namespace

// kube-scheduler's way to the Service: a connection stays with the endpoint that it was made to,
// and ends when it is refused, answered with 503, or not answered in time.
class ServiceCaller final : public sandbox::ExtenderCaller {
 public:
  explicit ServiceCaller(HaWorld& world) : world_(world) {}

  base::Task<base::Result<std::string>> call(std::string verb, std::string body) override {
    Replica* const target = pinned_ == nullptr ? world_.led_to() : pinned_;
    pinned_ = nullptr;
    if (target == nullptr || target->killed()) {
      co_await base::yield(world_.loop);
      co_return base::fail(base::ErrorKind::Unavailable, "connection refused");
    }
    if (target->paused()) {
      co_await base::sleep(world_.loop, seconds(2));
      co_return base::fail(base::ErrorKind::Timeout, "no answer in time");
    }
    if (!target->leadership().holds()) {
      co_await base::yield(world_.loop);
      co_return base::fail(base::ErrorKind::Unavailable, "503");
    }
    pinned_ = target;
    ++world_.answers_[target->name()];
    const auto caller = sandbox::in_process_extender(target->engine().extender());
    auto answer = co_await caller->call(std::move(verb), std::move(body));
    co_return answer;
  }

 private:
  HaWorld& world_;
  Replica* pinned_ = nullptr;
};

HaWorld::HaWorld(std::uint64_t seed) : loop(kHaStart) {
  cloud::SimulatedSettings settings = cloud::default_settings(cloud::Profile::Kwok);
  settings.seed = seed;
  settings.launch = {seconds(1), seconds(2), seconds(4)};
  settings.boot = {seconds(5), seconds(8), seconds(15)};
  auto made = cloud::SimulatedCloud::make(loop, cloud::Profile::Kwok, settings);
  EXPECT_TRUE(made) << made.error().message;
  cloud = *std::move(made);
  sandbox::WorldOptions options;
  options.seed = seed;
  world = std::make_unique<sandbox::World>(loop, options);
  cloud->set_listener(&world->kubelet());
  world->set_extender(std::make_shared<ServiceCaller>(*this));
  apply(
      "apiVersion: v1\nkind: Service\nmetadata: {name: millwright-extender, namespace: default}\n"
      "spec: {ports: [{name: https, port: 443}]}\n");
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    replicas[i] = std::make_unique<Replica>(Replica::Parts{
        .loop = loop,
        .world = *world,
        .provider = [this](
                        base::Loop& own, base::Metrics& /*metrics*/,
                        auto on_write) { return shared_cloud(own, *cloud, std::move(on_write)); },
        .name = i == 0 ? "a" : "b",
        .address = i == 0 ? "10.0.0.1" : "10.0.0.2",
        .seed = seed * 10 + i,
        .on_write = [this](Write write) { wrote(std::move(write)); }});
  }
  world->start();
}

HaWorld::~HaWorld() {
  for (auto& replica : replicas) {
    replica->kill();
  }
  world->stop();
  cloud->set_listener(nullptr);
}

void HaWorld::wrote(Write write) {
  for (const auto& replica : replicas) {
    if (replica == nullptr || replica->killed()) {
      continue;
    }
    if (replica->leadership().holds() != (replica->name() == write.replica)) {
      overlaps.push_back(write.replica + ": " + write.what);
    }
  }
  writes.push_back(std::move(write));
}

void HaWorld::apply(const std::string& yaml) {
  const auto documents = model::parse_yaml(yaml);
  ASSERT_TRUE(documents) << documents.error().message;
  for (const auto& document : *documents) {
    const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                               std::string(document.at("kind").as_string()));
    ASSERT_NE(resource, nullptr) << yaml;
    const auto created = world->api().create(*resource, document);
    ASSERT_TRUE(created) << created.error().message << "\n" << yaml;
  }
}

void HaWorld::apply_pool(const std::string& consolidate_after) {
  apply("apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n");
  apply(fmt::format(R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  disruption: {{consolidateAfter: {}, budgets: [{{nodes: "100%"}}]}}
  template:
    spec:
      nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}
      requirements:
      - {{key: kubernetes.io/os, operator: In, values: [linux]}}
      - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
)",
                    consolidate_after));
}

void HaWorld::deploy(const std::string& name, int pods, const std::string& cpu) {
  apply(fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}, namespace: default}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{app: {0}}}}}
  template:
    metadata:
      labels: {{app: {0}}}
    spec:
      containers: [{{name: main, image: main, resources: {{requests: {{cpu: "{2}"}}}}}}]
)",
                    name, pods, cpu));
}

void HaWorld::scale(const std::string& name, int pods) {
  const auto updated = world->api().update(
      model::kDeploymentResource, {.namespace_ = "default", .name = name},
      [pods](json::value& object) { object.at("spec").as_object()["replicas"] = pods; });
  ASSERT_TRUE(updated) << updated.error().message;
}

std::size_t HaWorld::running(const std::string& app) {
  std::size_t count = 0;
  for (const auto& [uid, record] : world->recorder().pods()) {
    const auto label = record.last->meta.labels.find("app");
    const bool of_app = label != record.last->meta.labels.end() && label->second == app;
    count += of_app && !record.gone && !record.deleting && record.running ? 1 : 0;
  }
  return count;
}

std::vector<std::shared_ptr<const model::NodeClaim>> HaWorld::claims() {
  std::vector<std::shared_ptr<const model::NodeClaim>> all;
  for (const auto& [uid, record] : world->recorder().claims()) {
    if (!record.gone) {
      all.push_back(record.last);
    }
  }
  return all;
}

std::size_t HaWorld::instances() {
  std::optional<std::size_t> count;
  base::TaskGroup group(loop);
  group.spawn(count_instances(*cloud, count));
  loop.run_until([&] { return count.has_value(); }, minutes(1));
  return count.value_or(0);
}

Replica* HaWorld::leader() {
  for (const auto& replica : replicas) {
    if (!replica->killed() && replica->leadership().holds()) {
      return replica.get();
    }
  }
  return nullptr;
}

Replica& HaWorld::other(const Replica& replica) {
  return &replica == replicas[0].get() ? *replicas[1] : *replicas[0];
}

Replica& HaWorld::wait_for_leader() {
  EXPECT_TRUE(wait([this] { return leader() != nullptr && led_to() == leader(); }, minutes(2)));
  return *leader();
}

Replica* HaWorld::led_to() {
  const auto slice = world->api().get(model::kEndpointSliceResource,
                                      {.namespace_ = "default", .name = "millwright-extender"});
  if (!slice) {
    return nullptr;
  }
  const std::string text = json::serialize((*slice)->at("endpoints"));
  for (const auto& replica : replicas) {
    if (text.find("\"" + replica->address() + "\"") != std::string::npos) {
      return replica.get();
    }
  }
  return nullptr;
}

int HaWorld::answers(const Replica& replica) const {
  const auto found = answers_.find(replica.name());
  return found == answers_.end() ? 0 : found->second;
}

}  // namespace millwright::test
