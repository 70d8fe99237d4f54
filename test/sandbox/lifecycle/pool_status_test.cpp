// How often a NodePool's status is written, and what does not wait.

#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include <boost/json.hpp>

#include <utility>

namespace millwright::test {
namespace {

class PoolStatus : public LifecycleFixture {
 protected:
  // Forty pods, a node for each, whose machines come up over half a minute.
  void up() {
    cloud::SimulatedSettings settings;
    settings.launch = {std::chrono::milliseconds(100), seconds(2), seconds(10)};
    settings.boot = {seconds(1), seconds(10), seconds(20)};
    app::EmbeddedOptions options;
    options.settings[cloud::Profile::Kwok] = settings;
    start(std::move(options));
    apply_class();
    apply_pool();
    run_for(seconds(10));
    subscription_ =
        api().watch(model::kNodePoolResource, [this](const sandbox::Event& event) { note(event); });
    deploy({.replicas = 40, .pod_spec = R"(
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}
)"});
  }

  void note(const sandbox::Event& event) {
    boost::system::error_code none;
    const auto* found = event.object->find_pointer("/status/resources", none);
    const std::string sum = found == nullptr ? "" : boost::json::serialize(*found);
    if (std::exchange(sum_, sum) != sum) {
      sums_written_.push_back(event.time);
    }
  }

  std::vector<base::TimePoint> sums_written_;

 private:
  std::string sum_;
  sandbox::ApiServer::Subscription subscription_;
};

TEST_F(PoolStatus, TheSumIsWrittenAtMostOnceASecondAndIsRightInTheEnd) {
  up();
  ASSERT_TRUE(wait_running("web", 40));
  run_for(seconds(2));
  EXPECT_EQ(text_of(model::kNodePoolResource, "default", "/status/nodes"), "40");
  ASSERT_GT(sums_written_.size(), 2U) << "as nodes tell what they have";
  // The first is what there was before.
  for (std::size_t i = 2; i < sums_written_.size(); ++i) {
    EXPECT_GE(sums_written_[i] - sums_written_[i - 1], seconds(1)) << i;
  }
}

TEST_F(PoolStatus, AConditionDoesNotWaitForTheSum) {
  up();
  ASSERT_TRUE(wait([&] { return sums_written_.size() > 2; }));
  remove(model::kKwokNodeClassResource, "default");
  const auto is_ready = [this] {
    return condition(model::kNodePoolResource, "default", "Ready") == "True";
  };
  EXPECT_TRUE(wait([&] { return !is_ready(); }, std::chrono::milliseconds(200)));
}

TEST_F(PoolStatus, WhatWentWithTheLastNodeThatHadItIsNotInTheSum) {
  start();
  apply_class();
  apply_pool();
  deploy({});
  ASSERT_TRUE(wait_running("web", 1));
  const auto gone = nodes().front()->meta.name;
  change(
      model::kNodeResource, gone,
      [](boost::json::value& object) {
        object.at("status").at("capacity").as_object()["nvidia.com/gpu"] = "4";
      },
      {}, "status");
  const auto sum = [this] {
    return text_of(model::kNodePoolResource, "default", "/status/resources/nvidia.com~1gpu");
  };
  ASSERT_TRUE(wait([&] { return sum() == "4"; }));
  remove(model::kNodeClaimResource, claims().front()->meta.name);
  ASSERT_TRUE(wait([&] { return nodes().size() == 1 && nodes().front()->meta.name != gone; }));
  EXPECT_TRUE(wait([&] { return sum().empty(); }, seconds(10))) << sum();
  EXPECT_EQ(text_of(model::kNodePoolResource, "default", "/status/nodes"), "1");
}

}  // namespace
}  // namespace millwright::test
