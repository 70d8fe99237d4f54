// Our webhook called by the real API server, as people with kubectl see it.

#include "plane/suite/fixture.hpp"

namespace millwright::plane {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Admission : public OnCluster<struct AdmissionTag> {
 protected:
  static bool present(const std::string& pool) {
    return cluster().plane().call("GET", std::string(kPools) + "/" + pool).status == 200;
  }
  static std::string with(std::string yaml, std::string_view from, const std::string& to) {
    const auto at = yaml.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? yaml : yaml.replace(at, from.size(), to);
  }
};

TEST_F(Admission, WhatOnlyTheWebhookSeesIsRefusedWithTheFieldAndAReason) {
  const std::string blank = with(node_pool("blank"), "values: [amd64]", "values: [\"amd 64\"]");
  // What the cloud sells is known a moment after the webhook answers.
  std::string said;
  cluster().wait("the webhook knows the catalog", seconds(20), [&] {
    said = cluster().refused({"apply", "-f", "-"}, blank);
    return said.find("Warning: ") != std::string::npos;
  });
  EXPECT_THAT(said, HasSubstr("The NodePool \"blank\" is invalid: "
                              "spec.template.spec.requirements[1].values[0]: Invalid value: "
                              "\"amd 64\": the value must be empty or consist of letters"));
  EXPECT_THAT(said, HasSubstr("Warning: spec.template.spec.requirements[1]: no instance type "
                              "offers kubernetes.io/arch In [amd 64]; the nearest is \"amd64\""));
  EXPECT_FALSE(present("blank"));
}

TEST_F(Admission, WhatTheCrdSeesIsRefusedByTheCrd) {
  const std::string said = cluster().refused(
      {"apply", "-f", "-"}, with(node_pool("crd"), "nodes: \"100%\"", "nodes: \"most\""));
  EXPECT_THAT(said, HasSubstr("spec.disruption.budgets[0].nodes"));
}

TEST_F(Admission, KubectlPrintsWarnings) {
  const std::string said = cluster().kubectl(
      {"apply", "-f", "-"}, with(node_pool("lost"), "kind: KWOKNodeClass, name: default",
                                 "kind: KWOKNodeClass, name: gone"));
  EXPECT_THAT(said, AllOf(HasSubstr("Warning: "), HasSubstr("gone"),
                          HasSubstr("nodepool.karpenter.sh/lost created")));
  cluster().kubectl({"delete", "nodepool", "lost"});
  EXPECT_THAT(cluster().kubectl({"apply", "-f", "-"}, node_pool("found")),
              Not(HasSubstr("Warning")));
  cluster().kubectl({"delete", "nodepool", "found"});
}

// `kubectl annotate` changes no spec: the match conditions must let the webhook be asked.
TEST_F(Admission, AnAnnotationThatCannotBeReadIsRefused) {
  const std::string wrong = "millwright.io/max-price-ratio=cheap";
  const std::string right = "millwright.io/max-price-ratio=2";
  cluster().apply(node_pool("noted"));
  EXPECT_THAT(cluster().refused({"annotate", "nodepool", "noted", wrong}),
              HasSubstr("millwright.io/max-price-ratio"));
  cluster().kubectl({"annotate", "nodepool", "noted", right});
  EXPECT_THAT(cluster().refused({"annotate", "--overwrite", "nodepool", "noted", wrong}),
              HasSubstr("millwright.io/max-price-ratio"));
  cluster().kubectl({"delete", "nodepool", "noted"});
}

TEST_F(Admission, ADryRunIsJudgedAndStoresNothing) {
  EXPECT_THAT(cluster().kubectl({"apply", "--dry-run=server", "-f", "-"}, node_pool("dry")),
              HasSubstr("created (server dry run)"));
  EXPECT_FALSE(present("dry"));
  cluster().refused({"apply", "--dry-run=server", "-f", "-"},
                    with(node_pool("dry"), "values: [amd64]", "values: [\"amd 64\"]"));
}

TEST_F(Admission, AppliesTwiceWithoutAChange) {
  cluster().apply(node_pool("twice"));
  EXPECT_THAT(cluster().kubectl({"apply", "-f", "-"}, node_pool("twice")), HasSubstr("unchanged"));
  EXPECT_EQ(cluster().plane().kubectl({"diff", "-f", "-"}, node_pool("twice")).text, "");
  cluster().kubectl({"delete", "nodepool", "twice"});
}

TEST_F(Admission, WithoutUsTheCrdStillRefusesAndTheRestPasses) {
  cluster().controller().process().kill();
  const std::string blank = with(node_pool("alone"), "values: [amd64]", "values: [\"amd 64\"]");
  EXPECT_THAT(cluster().kubectl({"apply", "-f", "-"}, blank), HasSubstr("created"));
  cluster().kubectl({"delete", "nodepool", "alone"});
  cluster().refused({"apply", "-f", "-"},
                    with(node_pool("crd"), "nodes: \"100%\"", "nodes: \"most\""));

  ASSERT_TRUE(cluster().controller().register_webhooks("Fail").has_value());
  EXPECT_THAT(cluster().refused({"apply", "-f", "-"}, node_pool("strict")),
              HasSubstr("failed calling webhook"));

  auto again = Controller::start(cluster().plane(), {});
  ASSERT_TRUE(again.has_value()) << again.error().message;
  cluster().set_controller(*std::move(again));
  ASSERT_TRUE(cluster().controller().register_webhooks().has_value());
  cluster().wait("the webhook refuses again", seconds(20), [&] {
    return cluster().plane().kubectl({"apply", "--dry-run=server", "-f", "-"}, blank).exit_code !=
           0;
  });
}

}  // namespace
}  // namespace millwright::plane
