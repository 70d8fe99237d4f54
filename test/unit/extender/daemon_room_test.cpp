// What is remembered of nodes and DaemonSets, and for how long.
#include "extender/policy/daemon_room.hpp"

#include "unit/cluster/objects.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace millwright::extender {
namespace {

DaemonSetPtr agent_with(std::int64_t milli_cpu) {
  model::DaemonSet agent;
  agent.meta.name = "agent";
  agent.meta.generation = 1;
  agent.pod_template.spec.containers.push_back(
      {.name = "a", .limits = testing::resources(milli_cpu)});
  return std::make_shared<const model::DaemonSet>(std::move(agent));
}

std::shared_ptr<const scheduling::NodeRecord> record_of(const std::string& name) {
  auto made = std::make_shared<model::Node>();
  made->meta.name = name;
  auto record = std::make_shared<scheduling::NodeRecord>();
  record->node = std::move(made);
  return record;
}

TEST(DaemonRoom, LetsGoOfNodesThatAreNoMore) {
  scheduling::Snapshot snapshot;
  snapshot.daemon_sets = {agent_with(100)};
  snapshot.nodes = {record_of("first")};
  const std::weak_ptr<const model::Node> first = snapshot.nodes.front()->node;
  DaemonRoom room;
  room.missing(*snapshot.nodes.front(), snapshot);
  for (int i = 0; i < 100; ++i) {
    snapshot.nodes = {record_of(std::to_string(i))};
    room.missing(*snapshot.nodes.front(), snapshot);
  }
  EXPECT_TRUE(first.expired());
}

// As in files: nothing says that it is the same one.
TEST(DaemonRoom, OfADaemonSetWithoutUidIsWhatTheNewestRequests) {
  scheduling::Snapshot snapshot;
  snapshot.nodes = {record_of("n")};
  DaemonRoom room;
  for (const std::int64_t milli_cpu : {100, 300}) {
    snapshot.daemon_sets = {agent_with(milli_cpu)};
    const auto missing = room.missing(*snapshot.nodes.front(), snapshot);
    EXPECT_EQ(model::get(missing, "cpu").milli(), milli_cpu);
  }
}

}  // namespace
}  // namespace millwright::extender
