// Answers that no cloud should give: each becomes a typed error that says which call it was, and no
// node is made twice because of one.
#include "adapter_fixture.hpp"

namespace millwright::cloud {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kHostile{"html", "page", "truncated", "types", "huge", "cut"};

class HuaweiHostile : public HuaweiAdapter {
 protected:
  void answer_hostile(const std::string& call, const std::string& answer) {
    control("/_facade/hostile", R"({"call":")" + call + R"(","answer":")" + answer + R"("})");
  }
  // What came of the work while each such answer was given for a call, which the error names so.
  template <class Work>
  void expect_errors(const std::string& call, const std::string& name, Work work) {
    for (const auto& answer : kHostile) {
      answer_hostile(call, answer);
      const auto result = work(answer);
      control("/_facade/hostile", "{}");
      ASSERT_FALSE(result) << call << " " << answer;
      EXPECT_TRUE(result.error().kind == ErrorKind::Unavailable ||
                  result.error().kind == ErrorKind::Timeout)
          << call << " " << answer << ": " << result.error().message;
      EXPECT_THAT(result.error().message, HasSubstr(name)) << answer;
    }
  }
  // A process begins while the call answers so, and logs what it could not read.
  void expect_logged(const std::string& call, const std::string& words) {
    for (const auto& answer : kHostile) {
      stop();
      records = std::make_shared<test::Records>();
      answer_hostile(call, answer);
      begin();
      EXPECT_TRUE(wait_until([&] { return records->text().find(words) != std::string::npos; }))
          << call << " " << answer << "\n"
          << records->tail();
      stop();
      control("/_facade/hostile", "{}");
    }
  }
};

TEST_F(HuaweiHostile, Lists) {
  expect_errors("list", "cce list nodes", [this](const std::string&) { return list(); });
}

TEST_F(HuaweiHostile, NodesThatAreLookedAt) {
  const auto made = create(claim_named("looked-at", {"c9.large.4"}));
  ASSERT_TRUE(made) << made.error().message;
  expect_errors("get", "cce get node", [&](const std::string&) { return get(made->provider_id); });
}

TEST_F(HuaweiHostile, Launches) {
  expect_errors("create", "cce create node", [this](const std::string& answer) {
    return create(claim_named("hostile-" + answer, {"c9.large.4"}));
  });
  for (const auto& answer : kHostile) {
    const auto made = insist(claim_named("hostile-" + answer, {"c9.large.4"}));
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_EQ(counted("asked", "uid-hostile-" + answer), 1);
  }
}

TEST_F(HuaweiHostile, WhatAClassFinds) {
  stop();  // forgets what it found
  begin();
  expect_errors("subnets", "vpc list subnets", [this](const std::string&) {
    return thread.run<base::Result<NodeClassState>>(
        [this] { return provider->resolve(cce_class()); });
  });
}

TEST_F(HuaweiHostile, Catalogs) {
  expect_logged("projects", "Huawei Cloud's flavors could not be read");
  expect_logged("flavors", "Huawei Cloud's flavors could not be read");
  expect_logged("zones", "Huawei Cloud's zones could not be read");
}

TEST_F(HuaweiHostile, Prices) {
  expect_logged("domains", "prices could not be read; the last known or estimates serve");
  expect_logged("prices", "prices could not be read; the last known or estimates serve");
  start();  // and reads them when it may
}

}  // namespace
}  // namespace millwright::cloud
