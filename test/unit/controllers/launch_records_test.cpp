#include "millwright/controllers/nodeclaim/launch_records.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace millwright::controllers {
namespace {

TEST(LaunchRecords, AreFoundByProviderIdAndByClaim) {
  scheduling::Snapshot snapshot;
  for (const auto* provider_id : {"cloud://a", ""}) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->provider_id = provider_id;
    claim->meta.uid = claim->provider_id.empty() ? "uid-of-a-launch" : "uid-of-a";
    auto record = std::make_shared<scheduling::NodeRecord>();
    record->claim = claim;
    snapshot.nodes.push_back(record);
  }
  snapshot.nodes.push_back(std::make_shared<scheduling::NodeRecord>());
  EXPECT_TRUE(is_launch_recorded(snapshot, "cloud://a"));
  EXPECT_TRUE(is_launch_recorded(snapshot, "uid-of-a"));
  EXPECT_FALSE(is_launch_recorded(snapshot, "cloud://b"));
  EXPECT_FALSE(is_launch_recorded(snapshot, "uid-of-a-launch"));
  EXPECT_FALSE(is_launch_recorded(snapshot, "")) << "a launch that is not on record";
}

}  // namespace
}  // namespace millwright::controllers
