// The v3 static-drift hash against values that Karpenter itself computed.
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace millwright::model {
namespace {

constexpr std::string_view kReference =
    R"("nodeClassRef":{"group":"karpenter.kwok.sh","kind":"KWOKNodeClass","name":"default"})";

// The template of a NodePool as the API server gives it. `spec` and `metadata` are members of
// template.spec and template.metadata.
NodeClaimTemplate node_claim_template(const std::string& spec, const std::string& metadata) {
  const std::string text = R"({"metadata":{"name":"p"},"spec":{"template":{"metadata":{)" +
                           metadata + R"(},"spec":{)" + spec + "}}}}";
  const auto pool = decode<NodePool>(parse_json(text).value());
  return pool.value().template_;
}

struct Golden {
  std::string name;
  std::string spec;  // beside the reference
  std::string metadata;
  std::string hash;
};

class NodePoolHash : public testing::TestWithParam<Golden> {};

TEST_P(NodePoolHash, EqualsKarpenters) {
  std::string spec(kReference);
  if (!GetParam().spec.empty()) {
    spec += "," + GetParam().spec;
  }
  EXPECT_EQ(nodepool_hash(node_claim_template(spec, GetParam().metadata)), GetParam().hash);
}

const std::string kTeam = R"("labels":{"team":"a"})";
const std::string kTeamAndEnv = R"("labels":{"team":"a","env":"b"})";
const std::string kAnnotation = R"("annotations":{"x":"true"})";
const std::string kStartup = R"("startupTaints":[{"key":"s","effect":"NoExecute"}])";
const std::string kTaint = R"({"key":"k","value":"v","effect":"NoSchedule"})";
const std::string kTaint2 = R"({"key":"k2","effect":"NoExecute"})";
const std::string k720h = R"("expireAfter":"720h")";
const std::string kGrace = R"("terminationGracePeriod":"30s")";

INSTANTIATE_TEST_SUITE_P(
    Golden, NodePoolHash,
    testing::Values(
        Golden{"ReferenceOnly", "", "", "7428780003907761376"},
        Golden{"NeverExpires", R"("expireAfter":"Never")", "", "7428780003907761376"},
        Golden{"Expires", k720h, "", "12745407319442031341"},
        Golden{"SameDurationOtherText", R"("expireAfter":"43200m")", "", "12745407319442031341"},
        Golden{"OneLabel", k720h, kTeam, "10172464548043488983"},
        Golden{"TwoLabels", k720h, kTeamAndEnv, "1160965435682276875"},
        Golden{"Annotation", k720h, kAnnotation, "1966980762637615469"},
        Golden{"LabelAndAnnotation", k720h, kTeam + "," + kAnnotation, "12009634400516696608"},
        Golden{"GracePeriod", k720h + "," + kGrace, "", "1541386002117396403"},
        Golden{"StartupTaint", k720h + "," + kStartup, "", "14217481021524839261"},
        Golden{"Taints", k720h + R"(,"taints":[)" + kTaint + "," + kTaint2 + "]", "",
               "12599259529599738509"},
        Golden{"TaintsInOtherOrder", k720h + R"(,"taints":[)" + kTaint2 + "," + kTaint + "]", "",
               "12599259529599738509"},
        Golden{"EmptyMaps", k720h, R"("labels":{},"annotations":{})", "4194485230119281011"},
        Golden{"NullMaps", "", R"("labels":null,"annotations":null)", "7428780003907761376"},
        Golden{"EmptyTaints", k720h + R"(,"taints":[])", "", "845502862369909111"},
        // Two equal list elements cancel each other.
        Golden{"TwiceTheSameTaint", k720h + R"(,"taints":[)" + kTaint + "," + kTaint + "]", "",
               "845502862369909111"},
        Golden{"RequirementsDoNotCount",
               R"("requirements":[{"key":"a","operator":"In","values":["b"]}])", "",
               "7428780003907761376"},
        Golden{"Everything", kGrace + "," + k720h + R"(,"taints":[)" + kTaint + "]," + kStartup,
               kTeamAndEnv + "," + kAnnotation, "2233240540504070776"}),
    [](const auto& param) { return param.param.name; });

TEST(NodePoolHashOfNothing, EqualsKarpenters) {
  EXPECT_EQ(nodepool_hash(NodeClaimTemplate{}), "17307646073972311821");
}

TEST(NodePoolHashInputs, AllCount) {
  NodeClaimTemplate base = node_claim_template(std::string(kReference), "");
  const std::string hash = nodepool_hash(base);
  NodeClaimTemplate changed = base;
  changed.node_class_ref.name = "other";
  EXPECT_NE(nodepool_hash(changed), hash);
  changed = base;
  changed.expire_after.text = "0s";
  EXPECT_NE(nodepool_hash(changed), hash);
  changed = base;
  changed.taints = std::vector<Taint>{Taint{.key = "k", .effect = "NoSchedule"}};
  const std::string with_taint = nodepool_hash(changed);
  changed.taints->front().time_added = base::parse_rfc3339("2026-01-02T03:04:05Z");
  EXPECT_NE(nodepool_hash(changed), with_taint);
}

TEST(NodePoolHashOfDecoded, SurvivesEncodingAndDecoding) {
  for (const std::string metadata : {"", R"("labels":{})", R"("annotations":{"a":"b"})"}) {
    for (const std::string spec : {"", R"(,"taints":[])", R"(,"startupTaints":[],"taints":[])"}) {
      NodePool pool;
      pool.meta.name = "p";
      pool.template_ = node_claim_template(std::string(kReference) + spec, metadata);
      const auto again = decode<NodePool>(encode(pool));
      ASSERT_TRUE(again);
      EXPECT_EQ(again->template_, pool.template_);
      EXPECT_EQ(nodepool_hash(again->template_), nodepool_hash(pool.template_));
    }
  }
}

}  // namespace
}  // namespace millwright::model
