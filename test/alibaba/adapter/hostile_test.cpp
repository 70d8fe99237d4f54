// Answers that no cloud should give: each becomes a typed error that says which call it was, and no
// launch happens twice because of one.
#include "adapter_fixture.hpp"

namespace millwright::cloud {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kHostile{"html", "page", "truncated", "types", "huge", "cut"};

class AlibabaHostile : public AlibabaAdapter {
 protected:
  // What came of the call while each such answer was given for the action.
  template <class Call>
  void expect_errors(const std::string& action, Call call) {
    for (const auto& answer : kHostile) {
      answer_hostile(action, answer);
      const auto result = call(answer);
      control("/_facade/hostile", "{}");
      ASSERT_FALSE(result) << action << " " << answer;
      EXPECT_TRUE(result.error().kind == ErrorKind::Unavailable ||
                  result.error().kind == ErrorKind::Timeout)
          << action << " " << answer << ": " << result.error().message;
      EXPECT_THAT(result.error().message, HasSubstr(action)) << answer;
    }
  }
};

TEST_F(AlibabaHostile, Lists) {
  start();
  expect_errors("DescribeInstances", [this](const std::string&) { return list(); });
  expect_errors("DescribeInstances", [this](const std::string&) { return get("cn-hangzhou.i-1"); });
}

TEST_F(AlibabaHostile, LaunchesByGroup) {
  start();
  expect_errors("CreateAutoProvisioningGroup", [this](const std::string& answer) {
    return create(claim_named("hostile-" + answer));
  });
  for (const auto& answer : kHostile) {
    const auto made = insist(claim_named("hostile-" + answer));
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_EQ(launched_for("hostile-" + answer), 1);
  }
}

TEST_F(AlibabaHostile, LaunchesOfOne) {
  start();
  refuse("CreateAutoProvisioningGroup", "Forbidden.RAM");
  expect_errors("RunInstances", [this](const std::string& answer) {
    return create(claim_named("hostile-one-" + answer));
  });
  for (const auto& answer : kHostile) {
    const auto made = insist(claim_named("hostile-one-" + answer));
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_EQ(launched_for("hostile-one-" + answer), 1);
  }
}

TEST_F(AlibabaHostile, ScriptsThatJoin) {
  start();
  expect_errors("DescribeClusterAttachScripts", [this](const std::string& answer) {
    return create(claim_named("hostile-script-" + answer));
  });
  EXPECT_EQ(launched_for("hostile-script-html"), 0);
}

TEST_F(AlibabaHostile, WhatAClassFinds) {
  begin();
  for (const std::string action : {"DescribeClusterDetail", "DescribeVSwitches",
                                   "DescribeSecurityGroups", "DescribeKubernetesVersionMetadata"}) {
    expect_errors(action, [this](const std::string&) {
      return thread.run<base::Result<NodeClassState>>(
          [this] { return provider->resolve(ecs_class()); });
    });
    resolve(ecs_class());
    stop();  // forgets what it found
    begin();
  }
}

TEST_F(AlibabaHostile, Catalogs) {
  for (const auto& answer : kHostile) {
    answer_hostile("DescribeInstanceTypes", answer);
    begin();
    resolve(ecs_class());
    EXPECT_TRUE(wait_until([this] {
      return records->text().find("instance types could not be read") != std::string::npos;
    })) << answer
        << "\n"
        << records->tail();
    const auto made = create(claim_named("without-types"));
    ASSERT_FALSE(made) << answer;
    EXPECT_EQ(made.error().kind, ErrorKind::Unavailable);
    EXPECT_THAT(made.error().message, HasSubstr("not known yet"));
    stop();
    records = std::make_shared<test::Records>();
  }
}

}  // namespace
}  // namespace millwright::cloud
