#include "millwright/disruption/protection.hpp"

#include "cluster_builder.hpp"

namespace millwright::disruption {
namespace {

using ::testing::HasSubstr;

const std::string kProtected(model::kDoNotDisruptAnnotation);

TEST(Protection, IsByTheNodeOrByAPod) {
  Cluster cluster;
  const auto kept = pod("p");
  auto& node = cluster.add_node("a", {kept});
  const auto found = [&](Reason reason) {
    const auto protected_by = protection(*cluster.input().snapshot->nodes.at(0), reason, kNow);
    return protected_by ? protected_by->message : std::string();
  };
  EXPECT_EQ(found(Reason::Underutilized), "");
  cluster.add_budget("pdb", "p", 0);
  EXPECT_EQ(found(Reason::Underutilized), "") << "a budget blocks for a while only";
  kept->meta.annotations[kProtected] = "true";
  EXPECT_THAT(found(Reason::Underutilized), HasSubstr("pod default/p has the annotation"));
  EXPECT_THAT(found(Reason::Drifted), HasSubstr("pod default/p has the annotation"));
  node.claim->termination_grace_period.text = "1h";
  EXPECT_THAT(found(Reason::Underutilized), HasSubstr("pod default/p has the annotation"));
  EXPECT_EQ(found(Reason::Drifted), "");
  node.node->meta.annotations[kProtected] = "true";
  EXPECT_THAT(found(Reason::Drifted), HasSubstr("its node has the annotation"));
}

}  // namespace
}  // namespace millwright::disruption
