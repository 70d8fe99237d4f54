// Pods become instances of an EC2 that remembers, in virtual time, and instances go again.
#include "aws_cluster.hpp"

namespace millwright {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AwsSandbox : public testing::Test, protected AwsCluster {};

TEST_F(AwsSandbox, PodsBecomeInstancesAndInstancesGoAgain) {
  apply(kNodeClass);
  apply(kNodePool);
  loop.run_for(1min);
  const auto node_class = get(model::kEc2NodeClassResource, "default");
  for (const auto* type :
       {"Ready", "SubnetsReady", "SecurityGroupsReady", "AMIsReady", "InstanceProfileReady"}) {
    EXPECT_EQ(condition(node_class, type), "True") << type;
  }
  EXPECT_NE(model::find_path(node_class, "metadata.annotations"), nullptr);
  EXPECT_THAT(boost::json::serialize(node_class.at("metadata")),
              HasSubstr("karpenter.k8s.aws/ec2nodeclass-hash"));
  EXPECT_FALSE(ec2.profile.empty());

  apply(kDeployment);
  loop.run_for(5min);
  EXPECT_EQ(running_pods(), 5U);
  EXPECT_GE(ec2.living().size(), 1U);
  EXPECT_EQ(count(model::kNodeResource), ec2.living().size());
  const auto claims = cloud::wait(loop, person.list(model::kNodeClaimResource));
  ASSERT_TRUE(claims);
  EXPECT_EQ(claims->items.size(), ec2.living().size());
  for (const auto& claim : claims->items) {
    EXPECT_EQ(condition(claim, "Ready"), "True") << boost::json::serialize(claim);
    EXPECT_EQ(condition(claim, "Drifted"), "absent");
  }

  const model::ObjectKey web{.namespace_ = "default", .name = "web"};
  EXPECT_TRUE(cloud::wait(loop, person.remove(model::kDeploymentResource, web)));
  loop.run_for(10min);
  EXPECT_TRUE(ec2.living().empty());
  EXPECT_EQ(count(model::kNodeClaimResource), 0U);
  EXPECT_EQ(count(model::kNodeResource), 0U);

  const model::ObjectKey name{.namespace_ = "", .name = "default"};
  EXPECT_TRUE(cloud::wait(loop, person.remove(model::kEc2NodeClassResource, name)));
  loop.run_for(2min);
  EXPECT_EQ(count(model::kEc2NodeClassResource), 0U);
  EXPECT_TRUE(ec2.profile.empty());
  EXPECT_TRUE(ec2.templates.empty());
}

TEST_F(AwsSandbox, AClassInUseIsNotTakenFromItsNodes) {
  apply(kNodeClass);
  apply(kNodePool);
  apply(kDeployment);
  loop.run_for(5min);
  ASSERT_EQ(running_pods(), 5U);
  const model::ObjectKey name{.namespace_ = "", .name = "default"};
  EXPECT_TRUE(cloud::wait(loop, person.remove(model::kEc2NodeClassResource, name)));
  loop.run_for(3min);
  EXPECT_FALSE(ec2.profile.empty());
  EXPECT_EQ(running_pods(), 5U);
}

// Also when nothing else happens in the cluster, and though instances are not asked for again.
TEST_F(AwsSandbox, AnEditedClassesClaimsAreDriftedWithinSeconds) {
  apply(kNodeClass);
  apply(
      std::string(kNodePool).replace(kNodePool.find("30s}"), 4, "30s, budgets: [{nodes: \"0\"}]}"));
  apply(kDeployment);
  loop.run_for(7min);
  ASSERT_EQ(running_pods(), 5U);
  const model::ObjectKey name{.namespace_ = "", .name = "default"};
  const auto edited =
      world.api().update(model::kEc2NodeClassResource, name, [](boost::json::value& object) {
        object.at("spec").as_object()["tags"] = boost::json::object{{"team", "blue"}};
      });
  ASSERT_TRUE(edited) << edited.error().message;
  loop.run_for(5s);
  const auto claims = cloud::wait(loop, person.list(model::kNodeClaimResource));
  ASSERT_TRUE(claims);
  ASSERT_FALSE(claims->items.empty());
  for (const auto& claim : claims->items) {
    EXPECT_EQ(condition(claim, "Drifted"), "True") << boost::json::serialize(claim);
  }
}

TEST_F(AwsSandbox, AFinalizerThatSomebodyTakesFromANodeClassIsPutBack) {
  apply(kNodeClass);
  loop.run_for(7min);
  const model::ObjectKey name{.namespace_ = "", .name = "default"};
  const auto finalizers = [&]() -> boost::json::value {
    const auto stored = world.api().get(model::kEc2NodeClassResource, name);
    const auto* found = stored ? model::find_path(**stored, "metadata.finalizers") : nullptr;
    return found == nullptr ? boost::json::array() : *found;
  };
  const auto before = finalizers();
  ASSERT_FALSE(before.as_array().empty());
  const auto edited = world.api().update(
      model::kEc2NodeClassResource, name,
      [](boost::json::value& object) { object.at("metadata").as_object().erase("finalizers"); });
  ASSERT_TRUE(edited) << edited.error().message;
  loop.run_for(5s);
  EXPECT_EQ(finalizers(), before);
}

TEST_F(AwsSandbox, SoldOutTypesAreReplacedByOthers) {
  for (const auto& facts : cloud::aws::test_types()) {
    if (facts.name.starts_with("m5")) {
      ec2.sold_out.insert(facts.name + " us-west-2a");
      ec2.sold_out.insert(facts.name + " us-west-2b");
    }
  }
  apply(kNodeClass);
  apply(kNodePool);
  apply(kDeployment);
  loop.run_for(10min);
  EXPECT_EQ(running_pods(), 5U);
  for (const auto& made : ec2.living()) {
    EXPECT_THAT(made.type, testing::StartsWith("m6i"));
  }
}

// As AWS refuses a call: each answer has an id of its own, and some an encoded copy of the call.
class RefusedByAws : public AwsSandbox {
 protected:
  // `words` makes the message from the number of the answer.
  void refuse(const std::string& operation, const std::string& code,
              std::function<std::string(const std::string& number)> words) {
    ec2.aws.on(operation, [this, code, words = std::move(words)](const Asked&) {
      const std::string number = std::to_string(++answers_);
      return cloud::aws::xml("<ErrorResponse><Error><Code>" + code + "</Code><Message>" +
                                 words(number) + "</Message></Error><RequestId>request-" + number +
                                 "</RequestId></ErrorResponse>",
                             403);
    });
  }
  std::size_t calls(const std::string& operation) { return ec2.aws.calls(operation).size(); }
  // The class is Ready by then: its dry run was allowed.
  void refuse_launches(std::function<std::string(const std::string& number)> words) {
    apply(kNodeClass);
    apply(kNodePool);
    loop.run_for(1min);
    ec2.aws.asked.clear();
    refuse("CreateFleet", "UnauthorizedOperation", std::move(words));
    apply(std::string(kDeployment).replace(kDeployment.find("replicas: 5"), 11, "replicas: 1"));
    EXPECT_TRUE(loop.run_until([&] { return calls("CreateFleet") > 0; }, 1min));
    EXPECT_EQ(count(model::kNodeClaimResource), 1U);
  }

 private:
  int answers_ = 0;
};

// No two answers are equal, and each is written into the object, which is an event of it.
std::string never_the_same(const std::string& number) {
  return "Refused for the time no. " + number;
}

TEST_F(RefusedByAws, ALaunchIsTriedAgainWithItsPauses) {
  refuse_launches(never_the_same);
  loop.run_for(3min);
  // After 1, 2, 4 ... 60 seconds, and where something else woke the claim.
  EXPECT_LE(calls("CreateFleet"), 11U);
  EXPECT_GE(calls("CreateFleet"), 6U);
}

TEST_F(RefusedByAws, AClassIsResolvedAgainWithPausesAndAtOnceAfterAnEdit) {
  refuse("CreateInstanceProfile", "AccessDenied", never_the_same);
  apply(kNodeClass);
  loop.run_for(5min);
  // Each 30 seconds, and after its hash was written.
  EXPECT_LE(calls("CreateInstanceProfile"), 13U);
  EXPECT_EQ(condition(get(model::kEc2NodeClassResource, "default"), "Ready"), "False");

  ec2.answer_profiles();
  const model::ObjectKey name{.namespace_ = "", .name = "default"};
  ASSERT_TRUE(
      world.api().update(model::kEc2NodeClassResource, name, [](boost::json::value& object) {
        object.at("spec").as_object()["tags"] = boost::json::object{{"team", "blue"}};
      }));
  loop.run_for(5s);
  EXPECT_EQ(condition(get(model::kEc2NodeClassResource, "default"), "Ready"), "True");
}

std::string with_a_copy(const std::string& number) {
  return "You may not. Encoded authorization failure message: copy_" + number;
}

std::string message_of(const boost::json::value& object, std::string_view type) {
  const auto* conditions = model::find_path(object, "status.conditions");
  for (const auto& each : conditions->as_array()) {
    if (each.at("type").as_string() == type) {
      return std::string(each.at("message").as_string());
    }
  }
  return "absent";
}

TEST_F(RefusedByAws, ObjectsSayWhatIsTheSameAtEachAttempt) {
  refuse_launches(with_a_copy);
  loop.run_for(2min);
  const auto claims = cloud::wait(loop, person.list(model::kNodeClaimResource));
  EXPECT_THAT(message_of(claims->items.at(0), "Launched"),
              AllOf(HasSubstr("UnauthorizedOperation: You may not.; allow the action"),
                    Not(HasSubstr("request-"))));
  std::size_t told = 0;
  const auto events = cloud::wait(loop, person.list(model::kEventResource));
  for (const auto& event : events->items) {
    const bool is_claims = event.at("involvedObject").at("kind").as_string() == "NodeClaim";
    told += is_claims && event.at("reason").as_string() == "LaunchFailed" ? 1 : 0;
  }
  EXPECT_EQ(told, 1U);
}

TEST_F(RefusedByAws, AClassSaysWhatIsTheSameAtEachAttempt) {
  refuse("CreateInstanceProfile", "AccessDenied", with_a_copy);
  apply(kNodeClass);
  loop.run_for(1min);
  const auto node_class = get(model::kEc2NodeClassResource, "default");
  for (const char* type : {"InstanceProfileReady", "Ready"}) {
    EXPECT_THAT(message_of(node_class, type),
                AllOf(HasSubstr("AccessDenied: You may not."), Not(HasSubstr("request-")),
                      Not(HasSubstr("copy_"))));
  }
}

}  // namespace
}  // namespace millwright
