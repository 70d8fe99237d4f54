// What the last leader did, and a late watch shows only while this one is at it.
#include "controllers/nodeclaim/lifecycle/launch.hpp"
#include "controllers/provisioning/refused_pods.hpp"
#include "controllers/termination/finalization.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cloud/simulated/witness.hpp"
#include "unit/controllers/with_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace millwright::controllers {
namespace {

using testing::ClaimBuilder;
using ::testing::Contains;
using ::testing::IsEmpty;
using testing::NodeBuilder;

constexpr model::Resource kCloudClasses[] = {{"cloud.test", "v1", "CloudClass", "cloudclasses"}};

// Launches and ends what it is asked for.
class Cloud final : public cloud::Witness {
 public:
  explicit Cloud(std::vector<std::string>& used) : Witness(used) {}

  std::span<const model::Resource> node_classes() const override { return kCloudClasses; }
  Reply<cloud::Instance> create(std::shared_ptr<const model::NodeClaim>,
                                std::shared_ptr<const model::NodeClass>) override {
    meanwhile();
    co_return launched;
  }
  Reply<> remove(std::shared_ptr<const model::NodeClaim> claim) override {
    note("remove " + claim->provider_id);
    co_return base::Result<>{};
  }

  std::function<void()> meanwhile = [] {};
  base::Result<cloud::Instance> launched = cloud::Instance{.provider_id = "cloud://two"};
};

class HandOver : public WithServices {
 protected:
  HandOver() {
    auto cloud = std::make_unique<Cloud>(used_);
    cloud_ = cloud.get();
    providers_.add(std::move(cloud));
    auto node_class = std::make_shared<model::NodeClass>();
    node_class->api_version = "cloud.test/v1";
    node_class->kind = kCloudClasses[0].kind;
    node_class->meta.name = "default";
    state_.upsert(std::shared_ptr<const model::NodeClass>(std::move(node_class)));
  }

  static ClaimPtr of_cloud(const ClaimBuilder& builder) {
    auto claim = *builder.build();
    claim.meta.finalizers = {std::string(model::kTerminationFinalizer)};
    claim.node_class_ref = {.group = std::string(kCloudClasses[0].group),
                            .kind = std::string(kCloudClasses[0].kind),
                            .name = "default"};
    return std::make_shared<const model::NodeClaim>(std::move(claim));
  }

  // A claim that goes, whose status names a Node. The API server has that, registered.
  void delete_claim_of_a_node() {
    auto going = *of_cloud(ClaimBuilder("c").provider("cloud://one").deleting());
    going.node_name = "node";
    state_.upsert(std::make_shared<const model::NodeClaim>(std::move(going)));
    transport_->answer = [](const kube::ApiRequest&) {
      return kube::test::ok(kube::test::parse(
          R"({"metadata": {"name": "node", "uid": "uid-node", "resourceVersion": "2",
                           "labels": {"karpenter.sh/registered": "true"},
                           "finalizers": ["karpenter.sh/termination"],
                           "ownerReferences": [{"apiVersion": "karpenter.sh/v1", "name": "c",
                                                "kind": "NodeClaim", "uid": "uid-c"}]}})"));
    };
  }
  base::Result<Requeue> finalize() {
    return kube::test::run(loop_, finalize_claim(services_, state_.find_claim("c")));
  }

  Cloud* cloud_ = nullptr;
};

TEST_F(HandOver, ALaunchThatIsOnRecordMeanwhileStays) {
  const ClaimPtr claim = of_cloud(ClaimBuilder("c"));
  const ClaimPtr recorded =
      of_cloud(ClaimBuilder("c").version(2).provider("cloud://one").condition(model::kLaunched));
  for (const bool fails : {false, true}) {
    SCOPED_TRACE(fails);
    state_.upsert(claim);
    cloud_->meanwhile = [&] { state_.upsert(recorded); };
    if (fails) {
      cloud_->launched = base::fail(base::ErrorKind::NoCapacity, "all is sold out");
    }
    LaunchFailures failures(services_);
    const auto result = kube::test::run(loop_, launch(services_, &failures, claim));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ((*result)->provider_id, "cloud://one");
    EXPECT_THAT(transport_->seen, IsEmpty());
  }
}

// By the time that this replica leads it has heard of the claim's pods, too.
TEST_F(HandOver, AClaimThatWasHeardOfBeforeItsPodsIsLaunched) {
  const auto pod = testing::PodBuilder("p").requests(1000).build();
  auto bought = *of_cloud(ClaimBuilder("c"));
  bought.meta.annotations[std::string(model::kReservationsAnnotation)] =
      cluster::encode_reservations({{.group = scheduling::group_of(*pod),
                                     .target = "c",
                                     .count = 1,
                                     .sample = model::key_of(pod->meta),
                                     .requests = {},
                                     .until = testing::at(1000)}});
  const auto claim = std::make_shared<const model::NodeClaim>(bought);
  state_.set_synced(true);
  state_.upsert(claim);
  ledger_.release_target("c");
  bool is_asked_for = false;
  cloud_->meanwhile = [&] { is_asked_for = true; };
  LaunchFailures failures(services_);
  for (const bool pod_is_there : {true, false}) {
    SCOPED_TRACE(pod_is_there);
    if (pod_is_there) {
      state_.upsert(pod);
    } else {
      state_.remove<model::Pod>(model::key_of(pod->meta));
    }
    is_asked_for = false;
    kube::test::run(loop_, launch(services_, &failures, claim));
    EXPECT_EQ(is_asked_for, pod_is_there);
  }
}

// Or pods would be planned onto it.
TEST_F(HandOver, AClaimThatIsGivenUpIsNoRoomFromThenOn) {
  const ClaimPtr claim = of_cloud(ClaimBuilder("c"));
  state_.upsert(claim);
  for (const bool fails : {true, false}) {
    SCOPED_TRACE(fails);
    transport_->answer = [&](const kube::ApiRequest&) {
      EXPECT_TRUE(state_.find_claim("c")->marked_for_deletion);
      return fails ? kube::test::status_answer(403, "Forbidden", "not allowed")
                   : kube::test::ok(kube::test::parse("{}"));
    };
    EXPECT_EQ(kube::test::run(loop_, delete_claim(services_, claim, "unneeded")).has_value(),
              !fails);
    EXPECT_EQ(state_.find_claim("c")->marked_for_deletion, !fails);
  }
}

// Others would be bought for pods that stay, should the deletion fail.
TEST_F(HandOver, AClaimWithANodeIsRoomUntilItIsBeingDeleted) {
  const ClaimPtr claim = of_cloud(ClaimBuilder("c").provider("cloud://one"));
  state_.upsert(claim);
  state_.upsert(NodeBuilder("n").provider("cloud://one").build());
  transport_->answer = [&](const kube::ApiRequest&) {
    EXPECT_FALSE(state_.find_claim("c")->marked_for_deletion);
    return kube::test::ok(kube::test::parse("{}"));
  };
  EXPECT_TRUE(kube::test::run(loop_, delete_claim(services_, claim, "expired")));
}

// kube-scheduler does not try it again by itself.
TEST_F(HandOver, APodThatCouldNotBeWokenAtFirstIsWokenSoon) {
  auto pod = testing::PodBuilder("refused-by-the-last-leader").value();
  pod.status.conditions = {
      {.type = "PodScheduled", .status = model::ConditionStatus::False, .reason = "Unschedulable"}};
  state_.upsert(std::make_shared<const model::Pod>(std::move(pod)));
  state_.set_synced(true);
  int wakes = 0;
  transport_->answer = [&](const kube::ApiRequest& request) {
    wakes += request.method == "PATCH" ? 1 : 0;
    return wakes == 1 ? kube::test::status_answer(409, "Conflict", "changed meanwhile")
                      : kube::test::ok(kube::test::parse("{}"));
  };
  Reservations reservations(services_);
  base::TaskGroup group(loop_);
  group.spawn(reservations.run(group.stop_token()));
  loop_.run_for(2 * RefusedPods::kShortSleep + std::chrono::seconds(5));
  EXPECT_EQ(wakes, 2);
  group.request_stop();
  loop_.run_for(std::chrono::seconds(5));
}

TEST_F(HandOver, AMachineWhoseNodeIsNotSeenYetIsNotEnded) {
  delete_claim_of_a_node();
  const auto waits = finalize();
  ASSERT_FALSE(waits);
  EXPECT_EQ(waits.error().kind, base::ErrorKind::Unavailable);
  EXPECT_THAT(used_, IsEmpty());

  transport_->answer = [](const kube::ApiRequest& request) {
    return request.method == "GET"
               ? kube::test::status_answer(404, "NotFound", "there is no such node")
               : kube::test::ok(kube::test::parse("{}"));
  };
  finalize();
  EXPECT_THAT(used_, Contains("remove cloud://one"));
}

// Kubelets of some clouds register without a provider id, which the cloud's controller adds.
TEST_F(HandOver, AMachineWhoseNodeIsSeenAsItBeganIsNotEnded) {
  delete_claim_of_a_node();
  state_.upsert(NodeBuilder("node").version(1).build());
  const auto waits = finalize();
  ASSERT_FALSE(waits);
  EXPECT_EQ(waits.error().kind, base::ErrorKind::Unavailable);
  EXPECT_THAT(used_, IsEmpty());

  state_.upsert(NodeBuilder("node").version(2).build());
  finalize();
  EXPECT_THAT(used_, Contains("remove cloud://one")) << "as it is now, it is not of this machine";
}

}  // namespace
}  // namespace millwright::controllers
