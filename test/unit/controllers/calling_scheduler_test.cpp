#include "millwright/controllers/process/calling_scheduler.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

constexpr base::TimePoint kSince{std::chrono::hours(1'000)};

model::Pod pod(const std::string& name, base::TimePoint created) {
  model::Pod result;
  result.meta.name = name;
  result.meta.uid = name;
  result.meta.creation_timestamp = created;
  result.spec.node_name = "node";
  result.spec.scheduler_name = "default-scheduler";
  return result;
}

scheduling::Snapshot placed(model::Pod one) {
  scheduling::NodeRecord record;
  record.pods.push_back(std::make_shared<const model::Pod>(std::move(one)));
  scheduling::Snapshot snapshot;
  snapshot.nodes.push_back(std::make_shared<const scheduling::NodeRecord>(std::move(record)));
  return snapshot;
}

TEST(CallingScheduler, NamesAreReadBack) {
  for (const auto wiring : {Wiring::Extender, Wiring::SecondScheduler, Wiring::Alone}) {
    EXPECT_EQ(parse_wiring(to_string(wiring)), wiring);
  }
  EXPECT_FALSE(parse_wiring(""));
  EXPECT_FALSE(parse_wiring("Extender"));
}

TEST(CallingScheduler, TheSchedulersNameIsAKeyAndNeverAnAnnotationsText) {
  EXPECT_EQ(scheduler_in(R"({"Pod":{"spec":{"schedulerName":"mine","nodeName":""}}})"), "mine");
  EXPECT_EQ(scheduler_in(R"({"Pod":{"metadata":{"annotations":{
      "last":"{\"schedulerName\":\"theirs\"}"}},"spec":{"schedulerName":"mine"}}})"),
            "mine");
  EXPECT_EQ(scheduler_in(R"({"f:schedulerName":{}})"), "");
  EXPECT_EQ(scheduler_in(""), "");
  EXPECT_EQ(scheduler_in(R"({"schedulerName":"never closed)"), "");
  EXPECT_EQ(scheduler_in(R"({"schedulerName":")" + std::string(300, 'x') + "\"}"), "");
}

TEST(CallingScheduler, OnlyPodsThatASchedulerPlacedSinceThenTell) {
  const auto later = kSince + std::chrono::seconds(1);
  EXPECT_NE(placed_since(placed(pod("new", later)), kSince, "default-scheduler"), nullptr);
  EXPECT_NE(placed_since(placed(pod("new", later)), kSince, ""), nullptr);
  EXPECT_EQ(placed_since(placed(pod("old", kSince - std::chrono::seconds(1))), kSince, ""),
            nullptr);
  EXPECT_EQ(placed_since(placed(pod("other", later)), kSince, "millwright-scheduler"), nullptr);
  for (const char* owner : {"DaemonSet", "Node"}) {
    auto owned = pod("owned", later);
    owned.meta.owner_references.push_back(
        {.api_version = owner == std::string("Node") ? "v1" : "apps/v1",
         .kind = owner,
         .name = "o",
         .uid = "o",
         .controller = true});
    EXPECT_EQ(placed_since(placed(std::move(owned)), kSince, ""), nullptr) << owner;
  }
}

}  // namespace
}  // namespace millwright::controllers
