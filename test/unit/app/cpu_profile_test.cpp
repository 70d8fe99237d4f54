// CPU profiles on the metrics port.
#include "app/serving/cpu_profile.hpp"

#include "unit/net/taken.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace millwright::app {
namespace {

using std::chrono::seconds;

class CpuProfiles : public ::testing::Test {
 protected:
  CpuProfiles() { add_profile_route(router_, loop_); }

  std::shared_ptr<net::test::Taken> ask(const std::string& query) {
    auto exchange = std::make_shared<net::test::Taken>();
    router_.handle({.target = "/debug/pprof/profile" + query}, exchange);
    loop_.run_ready();
    return exchange;
  }

  base::VirtualLoop loop_{base::TimePoint()};
  net::Router router_;
};

TEST_F(CpuProfiles, AreWhatPprofReads) {
  const auto answer = ask("?seconds=5");
  loop_.run_for(seconds(4));
  EXPECT_FALSE(answer->answered);
  loop_.run_for(seconds(1));
  ASSERT_TRUE(answer->answered);
  EXPECT_EQ(answer->response.status, 200);
  // Words of a machine's size: no count, three words follow, version 0, microseconds a sample.
  std::uintptr_t header[4] = {1, 1, 1, 0};
  ASSERT_GE(answer->response.body.size(), sizeof(header));
  std::memcpy(header, answer->response.body.data(), sizeof(header));
  EXPECT_EQ(header[0], 0U);
  EXPECT_EQ(header[1], 3U);
  EXPECT_EQ(header[2], 0U);
  EXPECT_GT(header[3], 0U);
}

TEST_F(CpuProfiles, AreTakenOneAtATime) {
  const auto first = ask("?seconds=5");
  EXPECT_EQ(ask("?seconds=1")->response.status, 409);
  loop_.run_for(seconds(5));
  EXPECT_EQ(first->response.status, 200);
  const auto next = ask("");
  loop_.run_for(seconds(30));
  EXPECT_EQ(next->response.status, 200);
}

TEST_F(CpuProfiles, LastNoLongerThanFiveMinutes) {
  for (const char* query : {"?seconds=0", "?seconds=301", "?seconds=x", "?seconds="}) {
    EXPECT_EQ(ask(query)->response.status, 400) << query;
  }
}

}  // namespace
}  // namespace millwright::app
