// The whole program on the sandbox's API server, in virtual time, with the real AWS provider on an
// EC2 that remembers. The program can end at any moment and be started anew; cluster and cloud
// stay.
#pragma once

#include "cloud/aws/aws_cloud.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "millwright/app/engine.hpp"
#include "millwright/cloud/measured.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/sandbox/world.hpp"
#include "unit/cloud/aws/fakes/fake_ec2.hpp"

namespace millwright {

using cloud::aws::Asked;
using cloud::aws::FakeEc2;
using namespace std::chrono_literals;

inline constexpr std::string_view kNodeClass = R"(
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: node-role
  amiFamily: AL2023
  amiSelectorTerms: [{id: ami-amd}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: demo}}]
)";
inline constexpr std::string_view kNodePool = R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}
)";
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

class AwsCluster {
 public:
  explicit AwsCluster(std::uint64_t seed = 3)
      : loop(base::TimePoint(std::chrono::days(20'500))),
        world(loop, options_of(seed)),
        http(loop),
        ec2(loop, http),
        person(loop, world.transport()),
        seed_(seed) {
    cloud::aws::register_labels();
    machine.variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}};
    ec2.answer_discovery();
    answer_profiles();
    ec2.on_launch = [this](const FakeEc2::Machine& made) { boot(made); };
    ec2.on_termination = [this](const FakeEc2::Machine& made) { shut_down(made.id); };
    start_program();
    world.start();
  }
  ~AwsCluster() {
    if (program_) {
      program_->group->request_stop();
      loop.run_for(1min);
    }
    program_.reset();
    world.stop();
  }
  AwsCluster(const AwsCluster&) = delete;
  AwsCluster& operator=(const AwsCluster&) = delete;

  void start_program() {
    program_ = std::make_unique<Program>();
    program_->client = std::make_unique<kube::Client>(loop, world.transport());
    cloud::AwsSettings settings{.cluster_name = "demo", .cluster_endpoint = "https://api.example"};
    settings.kubernetes_version = "1.31";
    auto provider = std::make_unique<cloud::aws::AwsCloud>(
        cloud::aws::AwsCloud::Parts{
            .loop = loop,
            .client = http,
            .settings = settings,
            .environment = machine.environment(),
            .endpoints = *cloud::aws::Endpoints::make("us-west-2", machine.environment()),
            .metrics = metrics,
            .log = {}},
        cloud::PriceFile{});
    // As in the program: what is not passed on here is lost there.
    program_->providers->add(cloud::measured(std::move(provider), loop, metrics));
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

  void answer_profiles() {
    ec2.aws.on("GetInstanceProfile", [this](const Asked&) {
      return profile.empty() ? cloud::aws::xml(
                                   "<ErrorResponse><Error><Code>NoSuchEntity</Code></Error>"
                                   "</ErrorResponse>",
                                   404)
                             : cloud::aws::xml(
                                   "<R><GetInstanceProfileResult><InstanceProfile><Roles><member>"
                                   "<RoleName>node-role</RoleName></member></Roles>"
                                   "</InstanceProfile></GetInstanceProfileResult></R>");
    });
    ec2.aws.on("CreateInstanceProfile", [this](const Asked& asked) {
      profile = asked.field("InstanceProfileName");
      return cloud::aws::xml("<R/>");
    });
    ec2.aws.on("AddRoleToInstanceProfile", "<R/>");
    ec2.aws.on("RemoveRoleFromInstanceProfile", "<R/>");
    ec2.aws.on("ListInstanceProfiles", [this](const Asked&) {
      return cloud::aws::xml(
          "<R><ListInstanceProfilesResult><InstanceProfiles><member>"
          "<InstanceProfileName>" +
          profile +
          "</InstanceProfileName></member></InstanceProfiles>"
          "</ListInstanceProfilesResult></R>");
    });
    ec2.aws.on("DeleteInstanceProfile", [this](const Asked&) {
      profile.clear();
      return cloud::aws::xml("<R/>");
    });
  }

  // What the machine and its kubelet do.
  void boot(const FakeEc2::Machine& made) {
    cloud::Instance instance;
    instance.provider_id = cloud::aws::provider_id_of(made.zone, made.id);
    instance.node_name = "node-" + made.id;
    instance.labels = {{"node.kubernetes.io/instance-type", made.type},
                       {"topology.kubernetes.io/zone", made.zone}};
    for (const auto& facts : cloud::aws::test_types()) {
      if (facts.name == made.type) {
        cloud::aws::NodeClassSpec spec;
        spec.family = cloud::aws::Family::Al2023;
        scheduling::InstanceType type;
        type.capacity = cloud::aws::capacity_of(facts, spec, {});
        type.overhead = cloud::aws::overhead_of(facts, spec, type.capacity);
        instance.capacity = type.capacity;
        instance.allocatable = type.allocatable();
      }
    }
    world.kubelet().launched(instance, nullptr, 20s);
  }
  void shut_down(const std::string& id) {
    loop.after(10s, [this, id] {
      auto& made = ec2.find(id);
      made.state = "terminated";
      world.kubelet().terminated(cloud::aws::provider_id_of(made.zone, id));
    });
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
  FakeEc2 ec2;
  std::string profile;  // the instance profile that IAM has
  kube::Client person;
  controllers::Options program_options;  // from its next start on

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
