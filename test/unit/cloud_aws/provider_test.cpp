// The provider as its callers see it, against an EC2 that remembers.
#include "cloud/aws/aws_cloud.hpp"
#include "cloud/aws/interruption.hpp"
#include "cloud/aws/type_labels.hpp"
#include "fake_ec2.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::shared_ptr<model::NodeClaim> claim_named(const std::string& name) {
  auto claim = std::make_shared<model::NodeClaim>();
  claim->meta.name = name;
  claim->meta.uid = "uid-" + name;
  claim->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
  claim->meta.creation_timestamp = kStart + 1min;
  claim->requirements = {{.key = "node.kubernetes.io/instance-type",
                          .op = model::Operator::In,
                          .values = {"m5.large", "m6i.large"}}};
  return claim;
}

class ProviderTest : public testing::Test {
 protected:
  ProviderTest() : loop(kStart), http(loop), ec2(loop, http) {
    register_labels();
    machine.variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}};
    start();
    loop.run_for(1min);
  }
  ~ProviderTest() override { crash(); }

  void start() {
    auto endpoints = Endpoints::make("us-west-2", machine.surroundings());
    AwsSettings settings;
    settings.cluster_name = "demo";
    settings.cluster_endpoint = "https://api.example";
    settings.kubernetes_version = "1.31";
    settings.interruption_queue = queue;
    settings.price_cache = price_cache;
    cloud = std::make_unique<AwsCloud>(AwsCloud::Parts{.loop = loop,
                                                       .client = http,
                                                       .settings = settings,
                                                       .surroundings = machine.surroundings(),
                                                       .endpoints = *endpoints,
                                                       .metrics = metrics,
                                                       .log = {}},
                                       PriceFile{});
    cloud->on_catalog_change([this] { ++catalog_changes; });
    background = std::make_unique<base::TaskGroup>(loop);
    background->spawn(cloud->run(background->stop_token()));
    background->spawn(cloud->lead(background->stop_token()));
    cloud->on_interruption([this](std::string id) { interrupted.push_back(std::move(id)); });
  }
  // Everything that was under way is gone.
  void crash() {
    background.reset();
    cloud.reset();
  }

  base::Result<Instance> create(const std::shared_ptr<model::NodeClaim>& claim) {
    return wait(loop, cloud->create(claim, the_class));
  }
  bool is_available(const std::string& type, const std::string& zone) {
    const auto types = cloud->instance_types({}, *the_class);
    const auto* found = scheduling::find_type(*types, type);
    for (const auto& offering : found->offerings) {
      if (offering.zone() == zone) {
        return offering.available;
      }
    }
    return false;
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  FakeEc2 ec2;
  base::Metrics metrics;
  std::unique_ptr<AwsCloud> cloud;
  std::unique_ptr<base::TaskGroup> background;
  std::shared_ptr<model::NodeClass> the_class = node_class({{"amiFamily", "AL2023"}});
  int catalog_changes = 0;
  std::vector<std::string> interrupted;
  std::string queue;  // name; set before start()
  std::string price_cache;
};

TEST_F(ProviderTest, AClaimBecomesAnInstance) {
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->provider_id, "aws:///us-west-2a/i-1");
  EXPECT_EQ(made->image_id, "ami-amd");
  EXPECT_EQ(made->labels.at("node.kubernetes.io/instance-type"), "m5.large");
  EXPECT_EQ(made->labels.at("topology.kubernetes.io/zone"), "us-west-2a");
  EXPECT_EQ(made->labels.at("topology.k8s.aws/zone-id"), "usw2-az2");
  EXPECT_EQ(made->labels.at("karpenter.sh/capacity-type"), "on-demand");
  EXPECT_EQ(made->labels.at("karpenter.k8s.aws/instance-family"), "m5");
  EXPECT_EQ(made->labels.at("kubernetes.io/arch"), "amd64");
  EXPECT_EQ(made->annotations.at("karpenter.k8s.aws/ec2nodeclass-hash"), static_hash(*the_class));
  EXPECT_EQ(made->capacity.at("cpu").units(), 2);
  EXPECT_EQ(made->allocatable.at("cpu").milli(), 1930);
  EXPECT_FALSE(made->capacity.contains("nvidia.com/gpu"));
  ASSERT_EQ(ec2.living().size(), 1U);
  const auto tags = ec2.machines[0].tags;
  EXPECT_EQ(tags.at("karpenter.sh/nodepool"), "pool");
  EXPECT_EQ(tags.at("karpenter.sh/nodeclaim"), "a");
  EXPECT_EQ(tags.at("karpenter.k8s.aws/ec2nodeclass"), "default");
  EXPECT_EQ(tags.at("eks:eks-cluster-name"), "demo");
  EXPECT_EQ(tags.at("kubernetes.io/cluster/demo"), "owned");
  EXPECT_EQ(ec2.aws.only("CreateFleet").field("ClientToken"), "uid-a");
}

TEST_F(ProviderTest, InstancesCanBeReadListedAndEnded) {
  const auto claim = claim_named("a");
  const auto made = create(claim);
  claim->provider_id = made->provider_id;
  const auto read = wait(loop, cloud->get(made->provider_id));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->node_claim, "a");
  EXPECT_EQ(read->node_name, "ip-i-1");
  EXPECT_FALSE(read->terminating);
  const auto listed = wait(loop, cloud->list());
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(ec2.aws.calls("DescribeInstances").back().filter("tag-key"), "karpenter.sh/nodepool");
  EXPECT_TRUE(wait(loop, cloud->remove(claim)));
  EXPECT_EQ(ec2.machines[0].state, "shutting-down");
  EXPECT_TRUE(wait(loop, cloud->remove(claim)));
  EXPECT_EQ(ec2.aws.calls("TerminateInstances").size(), 1U);
  ec2.machines[0].state = "terminated";
  const auto gone = wait(loop, cloud->remove(claim));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind, ErrorKind::NotFound);
  EXPECT_EQ(wait(loop, cloud->get("aws:///z/i-unknown")).error().kind, ErrorKind::NotFound);
  EXPECT_EQ(wait(loop, cloud->get("kwok://x")).error().kind, ErrorKind::NotFound);
}

TEST_F(ProviderTest, SoldOutOfferingsAreRememberedAndTriedAgain) {
  ec2.sold_out = {"m5.large us-west-2a", "m5.large us-west-2b", "m6i.large us-west-2a",
                  "m6i.large us-west-2b"};
  const auto before = catalog_changes;
  const auto made = create(claim_named("a"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::NoCapacity);
  EXPECT_THAT(made.error().message, HasSubstr("InsufficientInstanceCapacity (no luck)"));
  EXPECT_GT(catalog_changes, before);
  EXPECT_FALSE(is_available("m5.large", "us-west-2a"));
  EXPECT_TRUE(is_available("c5.9xlarge", "us-west-2a"));
  // The next claim does not even ask.
  EXPECT_EQ(create(claim_named("b")).error().kind, ErrorKind::NoCapacity);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
  ec2.sold_out.clear();
  loop.run_for(3min);
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
  EXPECT_TRUE(create(claim_named("c")));
}

TEST_F(ProviderTest, APartialFailureStillLaunches) {
  ec2.sold_out = {"m5.large us-west-2a"};
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->provider_id, "aws:///us-west-2b/i-1");
  EXPECT_FALSE(is_available("m5.large", "us-west-2a"));
}

TEST_F(ProviderTest, OtherFleetErrorsAreNoLackOfCapacity) {
  ec2.fleet_error = "InvalidParameterValue";
  auto made = create(claim_named("a"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::Invalid);
  ec2.fleet_error = "UnauthorizedOperation";
  made = create(claim_named("b"));
  EXPECT_EQ(made.error().kind, ErrorKind::Denied);
  EXPECT_TRUE(is_available("m5.large", "us-west-2a"));
}

TEST_F(ProviderTest, SpotWithoutItsRoleIsOffEverywhere) {
  ec2.fleet_error = "AuthFailure.ServiceLinkedRoleCreationNotPermitted";
  EXPECT_EQ(create(claim_named("a")).error().kind, ErrorKind::NoCapacity);
}

TEST_F(ProviderTest, ALostAnswerDoesNotMakeASecondInstance) {
  ec2.lose_answer = true;
  const auto claim = claim_named("a");
  // The call is tried again with its token, and AWS answers with the first call's instance.
  const auto made = create(claim);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(ec2.living().size(), 1U);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 2U);
}

TEST_F(ProviderTest, AnInstanceOfAnEarlierLifeIsAdopted) {
  const auto claim = claim_named("a");
  ASSERT_TRUE(create(claim));
  crash();
  start();
  loop.run_for(1min);
  const auto again = create(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, "aws:///us-west-2a/i-1");
  EXPECT_EQ(again->capacity.at("cpu").units(), 2);
  EXPECT_EQ(ec2.machines.size(), 1U);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1U);
}

TEST_F(ProviderTest, AUsedTokenLeadsToItsInstanceEvenWhenItShowsLate) {
  ec2.lag = 5s;
  const auto claim = claim_named("a");
  ASSERT_TRUE(create(claim));
  crash();
  start();
  loop.run_for(2s);
  claim->requirements[0].values = {"m6i.large"};  // the plan is another one now
  ec2.find("i-1").visible_at = loop.now() + 5s;
  const auto again = create(claim);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->provider_id, "aws:///us-west-2a/i-1");
  EXPECT_EQ(ec2.machines.size(), 1U);
}

TEST_F(ProviderTest, AClaimThatNeverLearnedItsInstanceCanStillEndIt) {
  const auto claim = claim_named("a");
  ASSERT_TRUE(create(claim));  // the answer is never recorded on the claim
  EXPECT_TRUE(wait(loop, cloud->remove(claim)));
  EXPECT_TRUE(ec2.living().empty());
  EXPECT_EQ(wait(loop, cloud->remove(claim_named("never"))).error().kind, ErrorKind::NotFound);
}

TEST_F(ProviderTest, ADeletedLaunchTemplateIsMadeAgain) {
  ASSERT_TRUE(create(claim_named("a")));
  ec2.templates.clear();
  EXPECT_TRUE(create(claim_named("b")));
  EXPECT_EQ(ec2.living().size(), 2U);
}

TEST_F(ProviderTest, UnusedLaunchTemplatesAreCollected) {
  ASSERT_TRUE(create(claim_named("a")));
  EXPECT_EQ(ec2.templates.size(), 1U);
  ec2.templates.insert("karpenter.k8s.aws/leaked");
  ec2.templates.insert("somebody-elses");
  loop.run_for(8min);
  EXPECT_EQ(ec2.templates.size(), 3U);
  loop.run_for(20min);
  EXPECT_EQ(ec2.templates, (std::set<std::string>{"somebody-elses"}));
  EXPECT_TRUE(create(claim_named("b")));
}

TEST_F(ProviderTest, ANotReadyClassLaunchesNothing) {
  the_class->conditions = {{.type = "Ready",
                            .status = model::ConditionStatus::False,
                            .reason = "SubnetsNotFound",
                            .message = "no subnet"}};
  const auto made = create(claim_named("a"));
  EXPECT_EQ(made.error().kind, ErrorKind::NotReady);
  EXPECT_THAT(made.error().message, HasSubstr("EC2NodeClass default is not ready: no subnet"));
  EXPECT_TRUE(ec2.aws.calls("CreateFleet").empty());
}

TEST_F(ProviderTest, ManyReadsAreOneCall) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(create(claim_named("c" + std::to_string(i))));
  }
  struct Run {
    static base::Task<void> get(Provider& from, std::string id, int& found, int& missing) {
      auto read = co_await from.get(std::move(id));
      (read ? found : missing) += 1;
    }
    static base::Task<void> remove(Provider& from, std::string id, int& done) {
      auto removed = co_await from.remove_leaked(std::move(id));
      done += removed ? 1 : 0;
    }
  };
  int found = 0;
  int missing = 0;
  const auto before = ec2.aws.calls("DescribeInstances").size();
  base::TaskGroup group(loop);
  for (int i = 1; i <= 20; ++i) {
    group.spawn(Run::get(*cloud, "aws:///us-west-2a/i-" + std::to_string(i), found, missing));
  }
  loop.run_for(10s);
  EXPECT_EQ(found, 20);
  EXPECT_EQ(ec2.aws.calls("DescribeInstances").size(), before + 1);
  // One unknown id must not hide the others.
  for (const std::string id : {"i-1", "i-999", "i-2"}) {
    group.spawn(Run::get(*cloud, "aws:///us-west-2a/" + id, found, missing));
  }
  loop.run_for(10s);
  EXPECT_EQ(found, 22);
  EXPECT_EQ(missing, 1);
  int removed = 0;
  for (int i = 1; i <= 20; ++i) {
    group.spawn(Run::remove(*cloud, "aws:///us-west-2a/i-" + std::to_string(i), removed));
  }
  loop.run_for(10s);
  EXPECT_EQ(removed, 20);
  EXPECT_EQ(ec2.aws.calls("TerminateInstances").size(), 1U);
  EXPECT_TRUE(ec2.living().empty());
}

TEST_F(ProviderTest, AThousandClaimsAtOnceAllGetOneInstance) {
  struct Run {
    static base::Task<void> one(Provider& in, std::shared_ptr<const model::NodeClaim> claim,
                                std::shared_ptr<const model::NodeClass> of, int& made) {
      auto created = co_await in.create(std::move(claim), std::move(of));
      made += created ? 1 : 0;
    }
  };
  base::TaskGroup group(loop);
  int made = 0;
  for (int i = 0; i < 1000; ++i) {
    group.spawn(Run::one(*cloud, claim_named("c" + std::to_string(i)), the_class, made));
  }
  loop.run_until([&] { return made == 1000; }, 10min);
  EXPECT_EQ(made, 1000);
  EXPECT_EQ(ec2.living().size(), 1000U);
  EXPECT_EQ(ec2.aws.calls("CreateFleet").size(), 1000U);
  EXPECT_EQ(ec2.aws.calls("CreateLaunchTemplate").size(), 1U);
}

TEST_F(ProviderTest, AFailedLaunchTemplateIsToldToAllWhoWaitForIt) {
  struct Run {
    static base::Task<void> one(Provider& in, std::shared_ptr<const model::NodeClaim> claim,
                                std::shared_ptr<const model::NodeClass> of, int& refused) {
      auto created = co_await in.create(std::move(claim), std::move(of));
      refused += !created && created.error().kind == ErrorKind::Denied ? 1 : 0;
    }
  };
  ec2.aws.on("CreateLaunchTemplate",
             [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  base::TaskGroup group(loop);
  int refused = 0;
  for (int i = 0; i < 5; ++i) {
    group.spawn(Run::one(*cloud, claim_named("c" + std::to_string(i)), the_class, refused));
  }
  loop.run_until([&] { return refused == 5; }, 1min);
  EXPECT_EQ(refused, 5);
  EXPECT_EQ(ec2.aws.calls("CreateLaunchTemplate").size(), 1U);
  EXPECT_TRUE(ec2.living().empty());
}

TEST_F(ProviderTest, CatalogsAreReadAgainAfterAFailure) {
  crash();
  ec2.aws.on("DescribeInstanceTypes",
             [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  start();
  loop.run_for(10s);
  EXPECT_EQ(cloud->instance_types({}, *the_class).error().kind, ErrorKind::NotReady);
  EXPECT_EQ(create(claim_named("a")).error().kind, ErrorKind::Unavailable);
  ec2.aws.on("DescribeInstanceTypes", read_test_data("instance_types.xml"));
  loop.run_for(2min);
  EXPECT_TRUE(cloud->instance_types({}, *the_class));
}

TEST_F(ProviderTest, PricesOfAnEarlierLifeServeUntilAwsTellsNewOnes) {
  const auto price_of = [this](const std::string& type) {
    const auto types = cloud->instance_types({}, *the_class);
    return scheduling::find_type(*types, type)->offerings.front().price;
  };
  const auto product = [](const std::string& price) {
    return boost::json::serialize(boost::json::value{
        {"PriceList",
         boost::json::array{R"({"product":{"attributes":{"instanceType":"m5.large"}},"terms":)"
                            R"({"OnDemand":{"A":{"priceDimensions":{"B":{"pricePerUnit":{"USD":")" +
                            price + R"("}}}}}}})"}}});
  };
  crash();
  price_cache = "/prices.json";
  machine.files[price_cache] = "{damaged";
  ec2.aws.on("GetProducts", product("0.1234"));
  start();
  loop.run_for(1min);
  EXPECT_DOUBLE_EQ(price_of("m5.large"), 0.1234);
  EXPECT_THAT(machine.files[price_cache], HasSubstr("m5.large"));

  crash();
  ec2.aws.on("GetProducts", [](const Asked&) { return net::Response::text(500, "<html>"); });
  start();
  loop.run_for(1min);
  EXPECT_DOUBLE_EQ(price_of("m5.large"), 0.1234);

  crash();
  ec2.aws.on("GetProducts", product("0.2"));
  start();
  loop.run_for(1min);
  EXPECT_DOUBLE_EQ(price_of("m5.large"), 0.2);
}

TEST_F(ProviderTest, DriftIsFoundByLookingAtTheInstance) {
  const auto claim = claim_named("a");
  const auto made = create(claim);
  claim->provider_id = made->provider_id;
  claim->meta.annotations = made->annotations;
  const auto drift = [&](boost::json::value spec, boost::json::value status) {
    return wait(loop, cloud->drift(claim, node_class(std::move(spec), std::move(status)))).value();
  };
  const boost::json::value spec{{"amiFamily", "AL2023"}};
  EXPECT_EQ(drift(spec, found_status()), "");
  EXPECT_EQ(drift({{"amiFamily", "AL2023"}, {"userData", "x"}}, found_status()), "NodeClassDrift");
  auto status = found_status();
  status.at("amis") = boost::json::array{image_status("ami-new", "amd64")};
  EXPECT_EQ(drift(spec, status), "AMIDrift");
  status = found_status();
  status.at("securityGroups").as_array().push_back({{"id", "sg-2"}, {"name", "more"}});
  EXPECT_EQ(drift(spec, status), "SecurityGroupDrift");
  status = found_status();
  status.at("subnets") = boost::json::array{{{"id", "subnet-z"}, {"zone", "us-west-2a"}}};
  EXPECT_EQ(drift(spec, status), "SubnetDrift");
  // A hash by an older rule says nothing.
  claim->meta.annotations["karpenter.k8s.aws/ec2nodeclass-hash-version"] = "v5";
  EXPECT_EQ(drift({{"amiFamily", "AL2023"}, {"userData", "x"}}, found_status()), "");
  ec2.machines[0].state = "terminated";
  EXPECT_EQ(drift(spec, found_status()), "");
}

// SQS hands out what is in `messages` until it is deleted.
class InterruptionTest : public ProviderTest {
 protected:
  InterruptionTest() {
    crash();
    queue = "events";
    ec2.aws.on("GetQueueUrl", R"({"QueueUrl":"https://sqs/1/events"})");
    ec2.aws.on("ReceiveMessage", [this](const Asked&) {
      boost::json::array list;
      for (const auto& [receipt, body] : messages) {
        list.push_back(boost::json::object{{"ReceiptHandle", receipt}, {"Body", body}});
      }
      boost::json::object answer;
      if (!list.empty()) {
        answer["Messages"] = std::move(list);
      }
      http.delay = messages.empty() ? base::Duration(20s) : base::Duration(10ms);
      return net::Response::json(200, boost::json::serialize(answer));
    });
    ec2.aws.on("DeleteMessage", [this](const Asked& asked) {
      messages.erase(std::string(boost::json::parse(asked.body).at("ReceiptHandle").as_string()));
      return net::Response::json(200, "{}");
    });
    start();
    loop.run_for(1min);
    http.delay = 10ms;
  }
  static std::string event(const std::string& type, boost::json::value detail,
                           const std::string& source = "aws.ec2") {
    return boost::json::serialize(boost::json::value{
        {"version", "0"}, {"source", source}, {"detail-type", type}, {"detail", detail}});
  }
  std::map<std::string, std::string> messages;
};

TEST_F(InterruptionTest, AWarningEndsTheInstanceAndItsOffering) {
  const auto made = create(claim_named("a"));
  ASSERT_TRUE(made) << made.error().message;
  messages["r1"] = event("EC2 Spot Instance Interruption Warning",
                         {{"instance-id", "i-1"}, {"instance-action", "terminate"}});
  loop.run_for(2min);
  EXPECT_THAT(interrupted, testing::ElementsAre(made->provider_id));
  EXPECT_TRUE(messages.empty());
  EXPECT_EQ(metrics.value("karpenter_interruption_received_messages_total",
                          {{"message_type", "spot_interrupted"}}),
            1);
  EXPECT_EQ(metrics.value("karpenter_interruption_deleted_messages_total"), 1);
}

TEST_F(InterruptionTest, WhatIsNotForUsIsDeletedWithoutAct) {
  ASSERT_TRUE(create(claim_named("a")));
  ec2.machines[0].tags["eks:eks-cluster-name"] = "another";
  messages = {{"r1", "not json"},
              {"r2", event("EC2 Instance State-change Notification",
                           {{"instance-id", "i-1"}, {"state", "terminated"}})},
              {"r3", event("EC2 Instance Rebalance Recommendation", {{"instance-id", "i-1"}})},
              {"r4", event("EC2 Spot Instance Interruption Warning", {{"instance-id", "i-77"}})}};
  loop.run_for(2min);
  EXPECT_TRUE(messages.empty());
  EXPECT_TRUE(interrupted.empty());
}

TEST_F(InterruptionTest, AMessageThatCouldNotBeActedOnComesAgain) {
  ASSERT_TRUE(create(claim_named("a")));
  ec2.aws.on("DescribeInstances",
             [](const Asked&) { return ec2_error("UnauthorizedOperation", 403); });
  messages["r1"] = event("EC2 Instance State-change Notification",
                         {{"instance-id", "i-1"}, {"state", "stopping"}});
  loop.run_for(1min);
  EXPECT_EQ(messages.size(), 1U);
  EXPECT_TRUE(interrupted.empty());
}

TEST(Interruption, EventsAreUnderstood) {
  const auto event = [](const std::string& type, boost::json::value detail,
                        const std::string& source = "aws.ec2") {
    return boost::json::serialize(boost::json::value{
        {"version", "0"}, {"source", source}, {"detail-type", type}, {"detail", detail}});
  };
  const boost::json::value instance{{"instance-id", "i-1"}};
  const auto kind = [](const std::string& body) {
    return std::string(to_string(parse_interruption(body).kind));
  };
  EXPECT_EQ(kind(event("EC2 Spot Instance Interruption Warning", instance)), "spot_interrupted");
  EXPECT_EQ(kind(event("EC2 Instance Rebalance Recommendation", instance)),
            "rebalance_recommendation");
  EXPECT_EQ(kind(event("EC2 Capacity Reservation Instance Interruption Warning", instance)),
            "capacity_reservation_interrupted");
  for (const auto& [state, expected] :
       std::map<std::string, std::string>{{"pending", "no_op"},
                                          {"running", "no_op"},
                                          {"stopping", "instance_stopped"},
                                          {"stopped", "instance_stopped"},
                                          {"shutting-down", "instance_terminated"},
                                          {"terminated", "instance_terminated"}}) {
    EXPECT_EQ(kind(event("EC2 Instance State-change Notification",
                         {{"instance-id", "i-1"}, {"state", state}})),
              expected);
  }
  const boost::json::value health{
      {"service", "EC2"},
      {"eventTypeCategory", "scheduledChange"},
      {"affectedEntities",
       boost::json::array{{{"entityValue", "i-1"}}, {{"entityValue", "arn:x"}}, 7}}};
  const auto change = parse_interruption(event("AWS Health Event", health, "aws.health"));
  EXPECT_EQ(to_string(change.kind), "scheduled_change");
  EXPECT_THAT(change.instances, testing::ElementsAre("i-1"));
  for (const std::string odd :
       {"", "[]", "{}", R"({"version":"0","source":"aws.ec2"})",
        R"({"version":"1","source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption )"
        R"(Warning","detail":{"instance-id":"i-1"}})"}) {
    EXPECT_EQ(kind(odd), "no_op") << odd;
  }
}

// The process may end at any moment of a launch. Whatever it was doing, the next one gives the
// claim its one instance.
TEST(ProviderCrash, AtAnyMomentOfALaunchLeavesOneInstance) {
  constexpr int kRuns = 2'000;
  int adopted = 0;
  register_labels();
  for (int seed = 0; seed < kRuns; ++seed) {
    base::Random random(static_cast<std::uint64_t>(seed));
    base::VirtualLoop loop(kStart);
    FakeHttp http(loop);
    FakeEc2 ec2(loop, http);
    FakeMachine machine;
    machine.variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}};
    base::Metrics metrics;
    const auto the_class = node_class({{"amiFamily", "AL2023"}});
    const auto claim = claim_named("a");
    claim->meta.creation_timestamp = kStart;
    ec2.lag = std::chrono::milliseconds(random.below(4'000));
    ec2.lose_answer = random.below(3) == 0;
    std::optional<base::Result<Instance>> answer;
    for (int life = 0; life < 12 && !(answer && *answer); ++life) {
      auto endpoints = Endpoints::make("us-west-2", machine.surroundings());
      AwsSettings settings{.cluster_name = "demo", .cluster_endpoint = "https://api.example"};
      settings.kubernetes_version = "1.31";
      AwsCloud cloud({.loop = loop,
                      .client = http,
                      .settings = settings,
                      .surroundings = machine.surroundings(),
                      .endpoints = *endpoints,
                      .metrics = metrics,
                      .log = {}},
                     PriceFile{});
      base::TaskGroup group(loop);
      group.spawn(cloud.run(group.stop_token()));
      struct Run {
        static base::Task<void> one(Provider& in, std::shared_ptr<const model::NodeClaim> of,
                                    std::shared_ptr<const model::NodeClass> with,
                                    std::optional<base::Result<Instance>>& out) {
          auto created = co_await in.create(std::move(of), std::move(with));
          out.emplace(std::move(created));
        }
      };
      loop.run_for(1s);
      answer.reset();
      group.spawn(Run::one(cloud, claim, the_class, answer));
      // Half of the lives end in the middle of it.
      const bool dies = life < 8 && random.below(2) == 0;
      loop.run_for(dies ? std::chrono::milliseconds(random.below(60)) : 60s);
      if (dies) {
        answer.reset();
      }
    }
    ASSERT_TRUE(answer && *answer) << "seed " << seed;
    ASSERT_EQ(ec2.living().size(), 1U) << "seed " << seed;
    EXPECT_EQ((*answer)->provider_id, "aws:///us-west-2a/i-1");
    adopted += ec2.aws.calls("DescribeInstances").empty() ? 0 : 1;
  }
  EXPECT_GT(adopted, kRuns / 4);
}

}  // namespace
}  // namespace millwright::cloud::aws
