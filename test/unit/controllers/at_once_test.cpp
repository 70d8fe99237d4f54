#include "controllers/process/at_once.hpp"

#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

using std::chrono::seconds;

struct Running {
  int now = 0;
  int most = 0;
  int ended = 0;
};

base::Task<void> take_a_second(base::Loop& loop, std::shared_ptr<Running> running) {
  running->most = std::max(running->most, ++running->now);
  co_await base::sleep(loop, seconds(1));
  --running->now;
  ++running->ended;
}

base::Task<void> run_all(base::Loop& loop, std::shared_ptr<Running> running, int tasks,
                         std::size_t limit, std::shared_ptr<bool> done) {
  std::vector<base::Task<void>> all;
  for (int i = 0; i < tasks; ++i) {
    all.push_back(take_a_second(loop, running));
  }
  co_await run_at_once(loop, std::move(all), limit);
  *done = true;
}

TEST(AtOnce, RunsSoManyAtATimeAndWaitsForAll) {
  base::VirtualLoop loop(base::TimePoint{});
  const auto running = std::make_shared<Running>();
  const auto done = std::make_shared<bool>(false);
  base::TaskGroup group(loop);
  group.spawn(run_all(loop, running, 40, 16, done));
  EXPECT_TRUE(loop.run_until([&] { return *done; }, seconds(10)));
  EXPECT_EQ(running->ended, 40);
  EXPECT_EQ(running->most, 16);
  EXPECT_EQ(loop.now(), base::TimePoint{} + seconds(3));
}

}  // namespace
}  // namespace millwright::controllers
