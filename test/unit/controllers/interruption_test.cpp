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

}  // namespace
}  // namespace millwright::controllers
