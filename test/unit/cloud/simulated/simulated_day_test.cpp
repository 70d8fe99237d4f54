// What changes by itself in a simulated cloud, and what it costs: prices, delays, one day per seed.
#include "simulated_fixture.hpp"

#include <set>

namespace millwright::cloud {
namespace {

using std::chrono::hours;

TEST(SimulatedCloud, PricesMoveWithinTheirNoiseAndOnlyWhileItRuns) {
  SimulatedSettings settings;
  settings.price_noise = 0.2;
  Bench bench(Profile::Aws, settings);
  const auto price = [&] {
    return scheduling::find_type(*bench.cloud->instance_types({}, {}), "m5.large")
        ->offerings.back()
        .price;
  };
  const double first = price();
  bench.loop.run_for(hours(3));
  EXPECT_DOUBLE_EQ(price(), first);
  bench.tasks.spawn(bench.cloud->run(bench.tasks.stop_token()));
  int changes = 0;
  bench.cloud->on_catalog_change([&] { ++changes; });
  std::set<double> seen{first};
  for (int hour = 0; hour < 10; ++hour) {
    bench.loop.run_for(hours(1));
    seen.insert(price());
    EXPECT_NEAR(price(), 0.096, 0.096 * 0.2 + 1e-12);
  }
  EXPECT_EQ(seen.size(), 11U);
  EXPECT_EQ(changes, 10);
  bench.tasks.request_stop();
  bench.loop.run_for(hours(1));
  EXPECT_TRUE(bench.tasks.empty());
}

TEST(SimulatedCloud, CountsWhatItCosts) {
  Bench bench(Profile::Aws);
  const auto owner = claim("a", {one_of(model::kInstanceTypeLabel, {"m5.large"}),
                                 one_of(model::kCapacityTypeLabel, {"on-demand"})});
  ASSERT_TRUE(bench.create(owner));
  EXPECT_DOUBLE_EQ(bench.cloud->hourly_cost(), 0.096);
  bench.loop.run_for(hours(10));
  EXPECT_NEAR(bench.cloud->total_cost(), 0.96, 1e-9);
  ASSERT_TRUE(bench.wait(bench.cloud->remove(owner)));
  bench.loop.run_for(hours(10));
  EXPECT_DOUBLE_EQ(bench.cloud->hourly_cost(), 0);
  EXPECT_NEAR(bench.cloud->total_cost(), 0.96, 1e-9);
}

TEST(SimulatedCloud, TheSameSeedMakesTheSameDay) {
  const auto day = [](std::uint64_t seed) {
    auto settings = default_settings(Profile::Aws);
    settings.seed = seed;
    settings.capacity_error_rate = 0.2;
    settings.error_rate = 0.1;
    settings.spot_interruptions_per_hour = 0.5;
    Bench bench(Profile::Aws, settings);
    for (int i = 0; i < 20; ++i) {
      (void)bench.create(claim("c" + std::to_string(i)));
    }
    bench.loop.run_for(hours(6));
    return std::pair(bench.listener.events, bench.listener.at);
  };
  EXPECT_EQ(day(7), day(7));
  EXPECT_NE(day(7), day(8));
}

TEST(SimulatedCloud, DelaysStayWithinTheirRangeWithTheTypicalOneInTheMiddle) {
  auto settings = default_settings(Profile::Huawei);
  Bench bench(Profile::Huawei, settings);
  int below = 0;
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(bench.create(claim("c" + std::to_string(i)), "CCENodeClass"));
    EXPECT_GE(bench.listener.boot, settings.boot.least);
    EXPECT_LE(bench.listener.boot, settings.boot.most);
    below += bench.listener.boot < settings.boot.typical ? 1 : 0;
  }
  EXPECT_NEAR(below, 200, 50);
}

}  // namespace
}  // namespace millwright::cloud
