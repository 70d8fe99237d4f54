// The whole program on the sandbox's API server, in virtual time, with the real provider of a cloud
// whose API is a fake that remembers. The program can end at any moment and be started anew;
// cluster and cloud stay.
#pragma once

#include "millwright/app/engine.hpp"
#include "millwright/cloud/measured.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/sandbox/world.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

#include <memory>
#include <string>

namespace millwright {

// Five pods of one CPU each.
inline constexpr std::string_view kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: web, resources: {requests: {cpu: "1"}}}
)";
// A node for each pod.
inline const std::string kSpreadDeployment = std::string(kDeployment) + R"(
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {app: web}}
)";

class ProgramCluster {
 public:
  explicit ProgramCluster(std::uint64_t seed)
      : loop(base::TimePoint(std::chrono::days(20'500))),
        world(loop, options_of(seed)),
        http(loop),
        person(loop, world.transport()),
        seed_(seed) {}
  virtual ~ProgramCluster() = default;
  ProgramCluster(const ProgramCluster&) = delete;
  ProgramCluster& operator=(const ProgramCluster&) = delete;

  void start_program() {
    program_ = std::make_unique<Program>();
    program_->client = std::make_unique<kube::Client>(loop, world.transport());
    // As in the program: what is not passed on here is lost there.
    program_->providers->add(cloud::measured(make_provider(), loop, metrics));
    program_->engine =
        std::make_unique<app::Engine>(app::EngineParts{.loop = loop,
                                                       .compute = compute,
                                                       .client = *program_->client,
                                                       .providers = *program_->providers,
                                                       .metrics = metrics,
                                                       .log = {},
                                                       .options = program_options,
                                                       .policy = {},
                                                       .seed = seed_ + ++lives_});
    world.set_extender(sandbox::in_process_extender(program_->engine->extender()));
    program_->group = std::make_unique<base::TaskGroup>(loop);
    program_->group->spawn(program_->engine->watch(program_->group->stop_token()));
    program_->group->spawn(program_->engine->lead(program_->group->stop_token()));
  }
  // As SIGKILL would: what was under way is neither finished nor undone.
  void crash() {
    world.set_extender(nullptr);
    program_->group.reset();
    program_->providers.reset();
    program_.reset();
  }

  void apply(std::string_view yaml) {
    const auto objects = model::parse_yaml(yaml);
    ASSERT_TRUE(objects) << objects.error().message;
    for (const auto& object : *objects) {
      const auto* resource = model::find_by_kind(std::string(object.at("apiVersion").as_string()),
                                                 std::string(object.at("kind").as_string()));
      const auto made = cloud::wait(loop, person.create(*resource, object));
      ASSERT_TRUE(made) << made.error().message;
    }
  }
  boost::json::value get(const model::Resource& resource, const std::string& name) {
    model::ObjectKey key{.namespace_ = resource.namespaced ? "default" : "", .name = name};
    const auto found = cloud::wait(loop, person.get(resource, key));
    return found ? *found : boost::json::value();
  }
  std::size_t count(const model::Resource& resource) {
    const auto listed = cloud::wait(loop, person.list(resource));
    return listed ? listed->items.size() : 999;
  }
  std::size_t running_pods() {
    const auto listed = cloud::wait(loop, person.list(model::kPodResource));
    std::size_t running = 0;
    for (const auto& pod : listed->items) {
      const auto* phase = model::find_path(pod, "status.phase");
      running += phase != nullptr && phase->as_string() == "Running" ? 1 : 0;
    }
    return running;
  }
  std::string condition(const boost::json::value& object, std::string_view type) {
    const auto* list = model::find_path(object, "status.conditions");
    if (list != nullptr) {
      for (const auto& each : list->as_array()) {
        if (model::text_at(each, "type") == type) {
          return std::string(each.at("status").as_string());
        }
      }
    }
    return "absent";
  }

  base::VirtualLoop loop;
  base::InlineCompute compute;
  base::Metrics metrics;
  sandbox::World world;
  cloud::FakeMachine machine;
  cloud::FakeHttp http;
  kube::Client person;
  controllers::Options program_options;  // from its next start on

 protected:
  // The cloud's provider as a new process makes it.
  virtual std::unique_ptr<cloud::Provider> make_provider() = 0;
  // To be called when an heir is made, and before it goes: what runs needs the heir's cloud.
  void begin() {
    start_program();
    world.start();
  }
  void end() {
    if (program_) {
      program_->group->request_stop();
      loop.run_for(std::chrono::minutes(1));
    }
    program_.reset();
    world.stop();
  }

 private:
  struct Program {
    std::unique_ptr<kube::Client> client;
    std::unique_ptr<cloud::ProviderSet> providers = std::make_unique<cloud::ProviderSet>();
    std::unique_ptr<app::Engine> engine;
    std::unique_ptr<base::TaskGroup> group;  // ends first
  };
  static sandbox::WorldOptions options_of(std::uint64_t seed) {
    sandbox::WorldOptions options;
    options.seed = seed;
    return options;
  }
  std::unique_ptr<Program> program_;
  std::uint64_t seed_;
  std::uint64_t lives_ = 0;
};

}  // namespace millwright
