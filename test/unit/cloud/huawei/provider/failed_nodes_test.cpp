// Nodes that CCE could not make, and deletions that must wait until it can.
#include "unit/cloud/huawei/provider/provider_fixture.hpp"

namespace millwright::cloud::huawei {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class HuaweiFailedNodes : public HuaweiProvider {
 protected:
  void launch(const std::string& name) {
    const auto made = create(claim(name));
    ASSERT_TRUE(made) << made.error().message;
  }
  bool is_offered(std::string_view type_name, std::string_view zone) const {
    const auto types = cloud->instance_types({}, *the_class);
    for (const auto& offering : scheduling::find_type(*types, type_name)->offerings) {
      if (offering.zone() == zone) {
        return offering.available;
      }
    }
    return false;
  }
};

TEST_F(HuaweiFailedNodes, AreGivenUpAndTheirOfferingIsLeftOut) {
  launch("a");
  cce.nodes.at("u1").phase = "Error";
  cce.job_reason = R"(the image cannot be booted {"password":"Kx9"})";
  loop.run_for(31s);
  ASSERT_THAT(notices, Not(IsEmpty()));
  EXPECT_EQ(notices[0].provider_id, "u1");
  EXPECT_EQ(notices[0].action, InstanceNotice::Action::Drain);
  EXPECT_THAT(notices[0].message,
              AllOf(HasSubstr("c9.large.4"), HasSubstr("az-a"),
                    HasSubstr("the image cannot be booted"), Not(HasSubstr("Kx9"))));
  EXPECT_FALSE(is_offered("c9.large.4", "az-a"));
  EXPECT_TRUE(is_offered("c9.large.4", "az-b"));
  loop.run_for(6min);
  EXPECT_TRUE(is_offered("c9.large.4", "az-a")) << "the mark ends, though the node is still there";
}

TEST_F(HuaweiFailedNodes, AreToldOfAgainUntilTheyAreBeingDeleted) {
  notice_answer = base::fail(ErrorKind::Unavailable, "no API server");
  launch("a");
  cce.nodes.at("u1").phase = "Error";
  loop.run_for(61s);
  const auto told = notices.size();
  EXPECT_GE(told, 2U);
  EXPECT_EQ(cce.calls["GET job-u1"], 1) << "the reason is asked for once";
  cce.nodes.at("u1").phase = "Deleting";
  loop.run_for(5min);
  EXPECT_EQ(notices.size(), told);
}

TEST_F(HuaweiFailedNodes, WithoutAReasonPointToTheConsole) {
  launch("a");
  cce.nodes.at("u1").phase = "Error";
  loop.run_for(31s);
  ASSERT_THAT(notices, Not(IsEmpty()));
  EXPECT_THAT(notices[0].message, HasSubstr("console"));
}

TEST_F(HuaweiFailedNodes, MayBeAbnormalForAMoment) {
  launch("a");
  cce.nodes.at("u1").phase = "Abnormal";
  loop.run_for(31s);
  cce.nodes.at("u1").phase = "Installing";
  loop.run_for(31s);
  cce.nodes.at("u1").phase = "Abnormal";
  loop.run_for(61s);
  EXPECT_THAT(notices, IsEmpty());
  loop.run_for(61s);
  EXPECT_THAT(notices, Not(IsEmpty()));
  EXPECT_THAT(notices, Each(Field(&InstanceNotice::provider_id, "u1")));
}

TEST_F(HuaweiFailedNodes, AreNotThoseThatWorkedBefore) {
  for (const auto* name : {"active", "registered", "old"}) {
    launch(name);
  }
  cce.nodes.at("u1").phase = "Active";
  loop.run_for(31s);
  auto registered = claim("registered");
  registered->provider_id = "u2";
  cloud->learn_capacity(*registered, {});
  loop.run_for(30min);
  cce.nodes["by-hand"] = {model::parse_json(R"({"spec":{"flavor":"s7.large.2"}})").value()};
  for (auto& [uid, node] : cce.nodes) {
    node.phase = "Error";
    node.created_at = uid == "u3" ? node.created_at : loop.now();
  }
  loop.run_for(5min);
  EXPECT_THAT(notices, IsEmpty());
}

TEST_F(HuaweiFailedNodes, AreDeletedAndOnesThatAreStillMadeAreWaitedFor) {
  const auto of = claim("a");
  ASSERT_TRUE(create(of));
  cce.keeps_unmade = true;
  for (const auto* phase : {"Build", "Installing"}) {
    cce.nodes.at("u1").phase = phase;
    EXPECT_TRUE(wait(loop, cloud->remove(of))) << phase << ": under way, ask again";
    EXPECT_EQ(cce.nodes.at("u1").phase, phase);
  }
  cce.nodes.at("u1").phase = "Error";
  EXPECT_TRUE(wait(loop, cloud->remove(of)));
  EXPECT_EQ(cce.nodes.at("u1").phase, "Deleting");
  cce.finish_deletions();
  EXPECT_EQ(wait(loop, cloud->remove(of)).error().kind, ErrorKind::NotFound);
}

}  // namespace
}  // namespace millwright::cloud::huawei
