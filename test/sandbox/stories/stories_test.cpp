// Every story of `millwright sandbox`, in virtual time with the real engine.

#include "millwright/model/codec.hpp"
#include "support/virtual_cluster.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace millwright::test {
namespace {

class Stories : public testing::TestWithParam<sandbox::StoryInfo> {};

app::EmbeddedOptions options_for(const sandbox::StoryInfo& info, std::uint64_t seed) {
  app::EmbeddedOptions options;
  options.seed = seed;
  options.profiles = {*cloud::parse_profile(info.provider)};
  if (info.best_effort_min_values) {
    options.controllers.solve.min_values = scheduling::MinValuesPolicy::BestEffort;
  }
  return options;
}

base::TimePoint start_of(const sandbox::StoryInfo& info) {
  return base::parse_rfc3339(info.start).value_or(base::TimePoint(std::chrono::days(20'000)));
}

std::string account_of(const sandbox::StoryReport& report) {
  std::string text;
  for (const auto& step : report.steps) {
    text +=
        (step.ok ? "ok   " : "FAIL ") + base::format_rfc3339(step.time) + " " + step.text + "\n";
  }
  return text;
}

TEST_P(Stories, HoldsForSeveralSeeds) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    VirtualCluster cluster(options_for(GetParam(), seed), start_of(GetParam()));
    const auto report = cluster.tell(std::string(GetParam().name), std::chrono::hours(12));
    EXPECT_TRUE(report.ok()) << "seed " << seed << "\n" << account_of(report);
  }
}

TEST_P(Stories, GoesTheSameWayForTheSameSeed) {
  std::string accounts[2];
  for (auto& account : accounts) {
    VirtualCluster cluster(options_for(GetParam(), 7), start_of(GetParam()));
    account = account_of(cluster.tell(std::string(GetParam().name), std::chrono::hours(12)));
  }
  EXPECT_EQ(accounts[0], accounts[1]);
}

// A pod that loses the room kept for it to one that no scheduler placed is planned anew when its
// hold ends, on a cluster where nothing else happens.
TEST(Holds, ThatEndWithoutTheirPodMakeANewPlan) {
  app::EmbeddedOptions options;
  options.profiles = {cloud::Profile::Kwok};
  VirtualCluster cluster(std::move(options));
  auto& api = cluster.cluster->world().api();
  const auto create = [&](const std::string& yaml) {
    const auto documents = model::parse_yaml(yaml);
    ASSERT_TRUE(documents) << documents.error().message;
    for (const auto& document : *documents) {
      const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                                 std::string(document.at("kind").as_string()));
      ASSERT_TRUE(api.create(*resource, document));
    }
  };
  const auto pod = [](const std::string& name, const std::string& node) {
    return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
           ", namespace: default}\nspec:\n" +
           (node.empty() ? std::string() : "  nodeName: " + node + "\n") +
           "  containers: [{name: work, image: work, resources: {requests: {cpu: \"3\"}}}]\n";
  };
  create(R"(
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
  disruption: {consolidateAfter: Never}
)");
  create(pod("planned", ""));
  auto& nodes = cluster.cluster->world().recorder().nodes();
  ASSERT_TRUE(cluster.loop.run_until([&] { return !nodes.empty(); }, std::chrono::minutes(2)));
  create(pod("squatter", nodes.begin()->second.last->meta.name));
  const auto runs = [&] {
    const auto& pods = cluster.cluster->world().recorder().pods();
    return std::any_of(pods.begin(), pods.end(), [](const auto& entry) {
      return entry.second.last->meta.name == "planned" && entry.second.running;
    });
  };
  EXPECT_TRUE(cluster.loop.run_until(runs, std::chrono::minutes(3)));
  EXPECT_EQ(nodes.size(), 2U);
}

std::string name_of(const testing::TestParamInfo<sandbox::StoryInfo>& story) {
  std::string name(story.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Stories,
                         testing::ValuesIn(sandbox::stories().begin(), sandbox::stories().end()),
                         name_of);

}  // namespace
}  // namespace millwright::test
