// A loop that does not turn is noticed.
#include "app/serving/heartbeat.hpp"

#include "millwright/base/loop.hpp"

#include <gtest/gtest.h>

namespace millwright::app {
namespace {

TEST(Heartbeat, TellsALoopThatTurnsFromOneThatIsStuck) {
  base::VirtualLoop loop{base::TimePoint(std::chrono::hours(1'000))};
  Heartbeat heartbeat(loop);
  EXPECT_FALSE(heartbeat.is_stuck());
  base::TaskGroup group(loop);
  group.spawn(heartbeat.run(group.stop_token()));
  loop.run_for(std::chrono::minutes(10));
  EXPECT_FALSE(heartbeat.is_stuck());
  group.request_stop();
  loop.run_for(Heartbeat::kStuckAfter - std::chrono::seconds(2));
  EXPECT_FALSE(heartbeat.is_stuck());
  loop.run_for(std::chrono::seconds(2));
  EXPECT_TRUE(heartbeat.is_stuck()) << "nobody beats any more";
}

}  // namespace
}  // namespace millwright::app
