#include "millwright/model/taints.hpp"

#include "millwright/model/labels.hpp"

#include <gtest/gtest.h>

namespace millwright::model {
namespace {

struct TaintCase {
  std::string name;
  Toleration toleration;
  bool tolerates;
};

class TolerationOfKV : public testing::TestWithParam<TaintCase> {};
TEST_P(TolerationOfKV, FollowsToleratesTaint) {
  const Taint taint{.key = "k", .value = "v", .effect = "NoSchedule"};
  EXPECT_EQ(GetParam().toleration.tolerates(taint), GetParam().tolerates);
}
INSTANTIATE_TEST_SUITE_P(
    Tolerations, TolerationOfKV,
    testing::Values(
        TaintCase{"Equal", {.key = "k", .op = "Equal", .value = "v"}, true},
        TaintCase{"EqualIsTheDefault", {.key = "k", .value = "v"}, true},
        TaintCase{"OtherValue", {.key = "k", .value = "w"}, false},
        TaintCase{"OtherKey", {.key = "l", .value = "v"}, false},
        TaintCase{"SameEffect", {.key = "k", .value = "v", .effect = "NoSchedule"}, true},
        TaintCase{"OtherEffect", {.key = "k", .value = "v", .effect = "NoExecute"}, false},
        TaintCase{"Exists", {.key = "k", .op = "Exists"}, true},
        TaintCase{"ExistsOtherKey", {.key = "l", .op = "Exists"}, false},
        TaintCase{"EmptyKeyExistsIsAll", {.op = "Exists"}, true},
        TaintCase{"EmptyKeyExistsOtherEffect", {.op = "Exists", .effect = "NoExecute"}, false},
        TaintCase{"UnknownOperator", {.key = "k", .op = "Foo", .value = "v"}, false}),
    [](const auto& param) { return param.param.name; });

TEST(Taints, FirstUntoleratedCountsPreferNoScheduleToo) {
  const std::vector<Taint> taints{{.key = "a", .effect = "NoSchedule"},
                                  {.key = "b", .effect = "PreferNoSchedule"}};
  const std::vector<Toleration> tolerates_a{{.key = "a", .op = "Exists"}};
  const std::vector<Toleration> tolerates_all{{.op = "Exists"}};
  EXPECT_EQ(first_untolerated(taints, {}), &taints[0]);
  EXPECT_EQ(first_untolerated(taints, tolerates_a), &taints[1]);
  EXPECT_EQ(first_untolerated(taints, tolerates_all), nullptr);
  EXPECT_EQ(first_untolerated({}, {}), nullptr);
}

TEST(Taints, ArePrintedAsKubectlDoes) {
  EXPECT_EQ((Taint{.key = "k", .value = "v", .effect = "NoSchedule"}).to_string(),
            "k=v:NoSchedule");
  EXPECT_EQ((Taint{.key = "k", .effect = "NoExecute"}).to_string(), "k:NoExecute");
}

TEST(Taints, EphemeralOnesAreThoseOfANodeComingUp) {
  EXPECT_TRUE(is_ephemeral_taint({.key = "node.kubernetes.io/not-ready", .effect = "NoSchedule"}));
  EXPECT_TRUE(is_ephemeral_taint({.key = "node.kubernetes.io/not-ready", .effect = "NoExecute"}));
  EXPECT_TRUE(
      is_ephemeral_taint({.key = "node.kubernetes.io/unreachable", .effect = "NoSchedule"}));
  EXPECT_TRUE(is_ephemeral_taint({.key = "node.cloudprovider.kubernetes.io/uninitialized",
                                  .value = "true",
                                  .effect = "NoSchedule"}));
  EXPECT_TRUE(is_ephemeral_taint({.key = std::string(kUnregisteredTaint), .effect = "NoExecute"}));
  EXPECT_TRUE(is_ephemeral_taint({.key = "readiness.k8s.io/network", .effect = "NoSchedule"}));
  EXPECT_FALSE(
      is_ephemeral_taint({.key = "node.kubernetes.io/unreachable", .effect = "NoExecute"}));
  EXPECT_FALSE(is_ephemeral_taint({.key = std::string(kDisruptedTaint), .effect = "NoSchedule"}));
  EXPECT_FALSE(is_ephemeral_taint({.key = "team", .effect = "NoSchedule"}));
}

}  // namespace
}  // namespace millwright::model
