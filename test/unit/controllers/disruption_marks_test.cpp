// Marks that were written while their answers are lost and the watch is late.
#include "controllers/disruption/disruption_marks.hpp"

#include "unit/controllers/with_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace millwright::controllers {
namespace {

using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::NodeBuilder;
using ::testing::StartsWith;

constexpr std::string_view kNode = "/api/v1/nodes/n";

class DisruptionMarks : public WithServices {
 protected:
  DisruptionMarks() {
    ClaimBuilder claim("c");
    for (const auto condition :
         {model::kLaunched, model::kRegistered, model::kInitialized, model::kReady}) {
      claim.condition(condition);
    }
    state_.upsert(claim.provider("cloud://one").build());
    state_.upsert(NodeBuilder("n").version(1).managed().provider("cloud://one").build());
  }

  base::Result<> clear(Taint taint) {
    return kube::test::run(loop_, clear_disrupted(services_, state_.find_claim("c"), taint));
  }

  // What the API server has.
  static boost::json::value node(const std::string& uid = "uid-n") {
    auto object = kube::test::parse(R"({
        "metadata": {"name": "n", "resourceVersion": "7"},
        "spec": {"providerID": "cloud://one",
                 "taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"},
                            {"key": "mine", "effect": "NoSchedule"}]}})");
    object.at("metadata").as_object()["uid"] = uid;
    return object;
  }
  static std::string request(const std::string& method) {
    return method + " " + std::string(kNode);
  }
};

TEST_F(DisruptionMarks, ATaintThatMayBeHiddenIsAskedForAndTakenOff) {
  transport_->answer = [](const kube::ApiRequest&) { return kube::test::ok(node()); };
  ASSERT_TRUE(clear(Taint::MayBeHidden));
  ASSERT_THAT(transport_->paths(), ElementsAre(request("GET"), StartsWith(request("PATCH"))));
  const auto patch = kube::test::parse(transport_->seen.back().request.body);
  EXPECT_EQ(patch.at("metadata").at("resourceVersion"), "7");
  const auto& taints = patch.at("spec").at("taints").as_array();
  ASSERT_EQ(taints.size(), 1U);
  EXPECT_EQ(taints.front().at("key"), "mine");
}

TEST_F(DisruptionMarks, NobodyIsAskedForATaintThatWasNotWritten) {
  ASSERT_TRUE(clear(Taint::AsShown));
  EXPECT_THAT(transport_->paths(), IsEmpty());
}

TEST_F(DisruptionMarks, AreNotKnownToBeOffWhileNobodyAnswers) {
  transport_->answer = [](const kube::ApiRequest&) {
    return kube::test::status_answer(403, "Forbidden", "injected");
  };
  EXPECT_FALSE(clear(Taint::MayBeHidden));
}

TEST_F(DisruptionMarks, AreGoneWithTheNode) {
  EXPECT_TRUE(clear(Taint::MayBeHidden));
  transport_->answer = [](const kube::ApiRequest&) { return kube::test::ok(node("another")); };
  EXPECT_TRUE(clear(Taint::MayBeHidden));
  EXPECT_THAT(transport_->paths(), ElementsAre(request("GET"), request("GET")));
}

}  // namespace
}  // namespace millwright::controllers
