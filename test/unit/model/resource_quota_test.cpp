#include "millwright/model/resource_quota.hpp"

#include "millwright/model/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::model {
namespace {

using Amounts = std::vector<std::pair<std::string_view, std::string_view>>;

ResourceList list_of(const Amounts& amounts) {
  ResourceList list;
  for (const auto& [name, amount] : amounts) {
    list.emplace(name, Quantity::parse(amount).value());
  }
  return list;
}

ResourceList pod() {
  return list_of({{"cpu", "500m"},
                  {"memory", "1Gi"},
                  {"ephemeral-storage", "2Gi"},
                  {"nvidia.com/gpu", "2"},
                  {"hugepages-2Mi", "4Mi"},
                  {"pods", "1"}});
}

TEST(ResourceQuota, AdmitsAsManyPodsAsItsTightestLimit) {
  struct Case {
    Amounts hard;
    QuotaUse used;
    std::int64_t pods;
  };
  const auto requested = [](const Amounts& amounts) {
    return QuotaUse{.objects = 0, .requests = list_of(amounts)};
  };
  for (const auto& [hard, used, pods] : std::vector<Case>{
           {{}, {}, kUnlimitedPods},
           {{{"pods", "10"}}, {.objects = 9, .requests = list_of({{"pods", "4"}})}, 6},
           {{{"count/pods", "10"}}, {.objects = 10, .requests = {}}, 0},
           {{{"pods", "10"}}, requested({{"pods", "14"}}), 0},
           {{{"pods", "10"}}, {}, 10},
           {{{"cpu", "2"}}, requested({{"cpu", "250m"}}), 3},
           {{{"requests.cpu", "2"}}, requested({{"cpu", "1"}}), 2},
           {{{"memory", "4Gi"}}, requested({{"memory", "1Gi"}}), 3},
           {{{"requests.memory", "4Gi"}}, requested({{"memory", "4000Mi"}}), 0},
           {{{"ephemeral-storage", "9Gi"}}, {}, 4},
           {{{"requests.ephemeral-storage", "9Gi"}}, requested({{"ephemeral-storage", "1Gi"}}), 4},
           {{{"requests.nvidia.com/gpu", "8"}}, requested({{"nvidia.com/gpu", "2"}}), 3},
           {{{"hugepages-2Mi", "8Mi"}}, {}, 2},
           {{{"requests.hugepages-2Mi", "8Mi"}}, requested({{"hugepages-2Mi", "6Mi"}}), 0},
           {{{"requests.cpu", "100"}, {"pods", "7"}, {"requests.memory", "5Gi"}}, {}, 5},
           {{{"requests.cpu", "0"}}, {}, 0},
           // what the pod does not request, or what is not a request
           {{{"requests.amd.com/gpu", "0"}}, {}, kUnlimitedPods},
           {{{"requests.storage", "0"}}, {}, kUnlimitedPods},
           {{{"limits.cpu", "0"}, {"limits.memory", "0"}}, {}, kUnlimitedPods},
           {{{"count/services", "0"}, {"services", "0"}}, {}, kUnlimitedPods},
           {{{"nvidia.com/gpu", "0"}}, {}, kUnlimitedPods},
       }) {
    ResourceQuota quota;
    quota.hard = list_of(hard);
    EXPECT_EQ(pods_within(quota, pod(), used), pods) << to_string(quota.hard);
    quota.scoped = true;
    EXPECT_EQ(pods_within(quota, pod(), used), kUnlimitedPods);
  }
}

TEST(ResourceQuota, AdmitsAnyNumberOfPodsThatRequestNothing) {
  ResourceQuota quota;
  quota.hard = list_of({{"requests.cpu", "1"}, {"memory", "0"}});
  EXPECT_EQ(pods_within(quota, {}, {}), kUnlimitedPods);
  EXPECT_EQ(pods_within(quota, list_of({{"cpu", "0"}}), {}), kUnlimitedPods);
}

TEST(ResourceQuota, IsReadFromItsStatus) {
  const auto quota = decode<ResourceQuota>(parse_json(R"({"kind": "ResourceQuota",
      "metadata": {"name": "q", "namespace": "shop", "labels": {"a": "b"}},
      "spec": {"hard": {"pods": "9"}},
      "status": {"hard": {"pods": "5", "requests.cpu": "1500m"}}})")
                                               .value())
                         .value();
  EXPECT_EQ(quota.meta.name, "q");
  EXPECT_TRUE(quota.meta.labels.empty());
  EXPECT_EQ(to_string(quota.hard), "{pods: 5, requests.cpu: 1500m}");
  EXPECT_FALSE(quota.scoped);
}

TEST(ResourceQuota, ScopesAreNoticed) {
  for (const auto& [spec, scoped] : {
           std::pair{R"({"scopes": ["BestEffort"]})", true},
           std::pair{R"({"scopes": []})", false},
           std::pair{R"({"scopes": null})", false},
           std::pair{R"({"scopeSelector": {"matchExpressions": [
                     {"scopeName": "PriorityClass", "operator": "Exists"}]}})",
                     true},
           std::pair{R"({"scopeSelector": {}})", false},
           std::pair{R"({"scopes": ["Terminating"], "scopeSelector": {"matchExpressions": []}})",
                     true},
       }) {
    const std::string json = std::string(R"({"spec": )") + spec + "}";
    EXPECT_EQ(decode<ResourceQuota>(parse_json(json).value()).value().scoped, scoped) << json;
  }
}

}  // namespace
}  // namespace millwright::model
