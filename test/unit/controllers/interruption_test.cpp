// Which NodeClaims a cloud's notice is still about, and how they end.
#include "millwright/controllers/nodeclaim/interruption.hpp"

#include "millwright/model/codec.hpp"
#include "unit/controllers/with_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace millwright::controllers {
namespace {

using Action = cloud::InstanceNotice::Action;
using millwright::testing::at;
using millwright::testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kHour = 3600;

// Whether there is something left to do for a claim that is being deleted, whose pods may be waited
// for until `wall`.
bool is_acted_on(Action action, const std::string& wall) {
  auto claim = std::make_shared<model::NodeClaim>();
  claim->provider_id = "kwok://a";
  claim->meta.deletion_timestamp = at(0);
  if (!wall.empty()) {
    claim->meta.annotations[std::string(model::kTerminationTimestampAnnotation)] = wall;
  }
  auto record = std::make_shared<scheduling::NodeRecord>();
  record->claim = claim;
  scheduling::Snapshot snapshot;
  snapshot.nodes.push_back(record);
  cloud::InstanceNotice notice;
  notice.provider_id = "kwok://a";
  notice.action = action;
  return claim_to_act_on(snapshot, notice, at(kHour)) != nullptr;
}

TEST(Interruption, HastensAClaimWhosePodsAreStillWaitedFor) {
  EXPECT_TRUE(is_acted_on(Action::Force, ""));
  EXPECT_TRUE(is_acted_on(Action::Force, base::format_rfc3339(at(2 * kHour))))
      << "its terminationGracePeriod has not ended";
  EXPECT_TRUE(is_acted_on(Action::Force, "soon")) << "nobody can read that";
  EXPECT_FALSE(is_acted_on(Action::Force, base::format_rfc3339(at(0))));
  EXPECT_FALSE(is_acted_on(Action::Drain, ""));
}

TEST(Interruption, OfAnUnknownInstanceIsKeptWhileClaimsAreLaunched) {
  struct Case {
    const char* provider_id;
    bool deleting;
    bool kept;
  };
  cloud::InstanceNotice notice;
  notice.provider_id = "kwok://a";
  for (const auto& [provider_id, deleting, kept] :
       {Case{"", false, true}, Case{"", true, false}, Case{"kwok://b", false, false},
        Case{"kwok://a", false, false}}) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->provider_id = provider_id;
    if (deleting) {
      claim->meta.deletion_timestamp = at(0);
    }
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->claim = claim;
    scheduling::Snapshot snapshot;
    snapshot.nodes.push_back(record);
    EXPECT_EQ(may_be_of_a_launch(snapshot, notice), kept) << provider_id << deleting;
    snapshot.nodes.push_back(std::make_shared<scheduling::NodeRecord>());  // a node without a claim
    EXPECT_EQ(may_be_of_a_launch(snapshot, notice), kept) << provider_id << deleting;
  }
}

// An API server with one NodeClaim, which remembers what was written.
class ForcedNotice : public WithServices {
 protected:
  ForcedNotice() {
    state_.upsert(claim_);
    transport_->answer = [this](const kube::ApiRequest& request) {
      if (request.method != "GET") {
        writes_.push_back(request.method);
      }
      if (!refusals_.empty() && request.method == refusals_.front().method) {
        auto refusal = refusals_.front().answer;
        refusals_.erase(refusals_.begin());
        return refusal;
      }
      if (request.method == "PATCH") {
        patch_ = request.body;
      }
      return kube::test::ok(model::encode(*claim_));
    };
  }

  struct Refusal {
    std::string method;
    net::Response answer;
  };
  void refuse(const std::string& method, int code, std::string_view reason) {
    refusals_.push_back({method, kube::test::status_answer(code, reason, "not now")});
  }
  base::Result<> act() {
    cloud::InstanceNotice notice;
    notice.action = Action::Force;
    notice.kind = "system_status";
    return kube::test::run(loop_, act_on_notice(services_, claim_, notice));
  }

  std::shared_ptr<const model::NodeClaim> claim_ =
      ClaimBuilder("c").version(1).provider("kwok://a").build();
  std::vector<Refusal> refusals_;
  std::vector<std::string> writes_;
  std::string patch_;
};

TEST_F(ForcedNotice, DeletesTheClaimBeforeItEndsTheTimeToDrain) {
  ASSERT_TRUE(act());
  EXPECT_THAT(writes_, ElementsAre("DELETE", "PATCH"));
  EXPECT_THAT(patch_, HasSubstr(model::kTerminationTimestampAnnotation));
}

// The stamp would stay, and a node that recovers would be ended without a drain much later.
TEST_F(ForcedNotice, WritesNothingOnAClaimThatIsNotDeleted) {
  refuse("DELETE", 503, "ServiceUnavailable");
  EXPECT_FALSE(act());
  EXPECT_THAT(writes_, ElementsAre("DELETE"));
}

TEST_F(ForcedNotice, EndsTheTimeToDrainThoughTheClaimIsWrittenMeanwhile) {
  refuse("PATCH", 409, "Conflict");
  ASSERT_TRUE(act());
  EXPECT_THAT(writes_, ElementsAre("DELETE", "PATCH", "PATCH"));
}

TEST_F(ForcedNotice, IsDoneWithAClaimThatIsGone) {
  refuse("GET", 404, "NotFound");
  EXPECT_TRUE(act());
  EXPECT_THAT(writes_, ElementsAre("DELETE"));
}

}  // namespace
}  // namespace millwright::controllers
