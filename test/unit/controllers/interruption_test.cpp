// Which NodeClaims a cloud's notice is still about.
#include "millwright/controllers/nodeclaim/interruption.hpp"

#include "unit/cluster/objects.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace millwright::controllers {
namespace {

using Action = cloud::InstanceNotice::Action;
using millwright::testing::at;

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

}  // namespace
}  // namespace millwright::controllers
