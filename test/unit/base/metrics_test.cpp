#include "millwright/base/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace millwright::base {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, CountAddsUpPerSeries) {
  Metrics metrics;
  metrics.count("a_total", "Help.", {{"x", "1"}});
  metrics.count("a_total", "Help.", {{"x", "1"}}, 2);
  metrics.count("a_total", "Help.", {{"x", "2"}});
  EXPECT_EQ(metrics.value("a_total", {{"x", "1"}}), 3);
  EXPECT_EQ(metrics.value("a_total", {{"x", "2"}}), 1);
  EXPECT_EQ(metrics.value("a_total", {{"x", "3"}}), 0);
  EXPECT_EQ(metrics.value("b_total"), 0);
}

TEST(Metrics, SetReplacesAndRemoveForgetsOneSeries) {
  Metrics metrics;
  metrics.set("nodes", "Help.", {{"pool", "a"}}, 3);
  metrics.set("nodes", "Help.", {{"pool", "a"}}, 2);
  metrics.set("nodes", "Help.", {{"pool", "b"}}, 7);
  EXPECT_EQ(metrics.value("nodes", {{"pool", "a"}}), 2);
  metrics.remove("nodes", {{"pool", "a"}});
  metrics.remove("nodes", {{"pool", "never"}});
  metrics.remove("unheard_of", {});
  EXPECT_EQ(metrics.value("nodes", {{"pool", "a"}}), 0);
  EXPECT_THAT(metrics.render(), Not(HasSubstr("pool=\"a\"")));
  EXPECT_THAT(metrics.render(), HasSubstr("nodes{pool=\"b\"} 7"));
  metrics.set("nodes", "Help.", {{"pool", "a"}}, 5);
  EXPECT_EQ(metrics.value("nodes", {{"pool", "a"}}), 5);
}

TEST(Metrics, ForgetTakesEverySeriesOfWhatIsGone) {
  Metrics metrics;
  metrics.count("a_total", "Help.", {{"pool", "gone"}, {"x", "1"}});
  metrics.count("a_total", "Help.", {{"pool", "gone"}, {"x", "2"}});
  metrics.count("a_total", "Help.", {{"pool", "stays"}, {"x", "gone"}}, 5);
  metrics.observe("b_seconds", "Help.", {{"pool", "gone"}}, 1);
  metrics.set("c", "Help.", {}, 7);
  metrics.forget("pool", "gone");
  EXPECT_THAT(metrics.render(), Not(HasSubstr("pool=\"gone\"")));
  EXPECT_EQ(metrics.value("a_total", {{"pool", "stays"}, {"x", "gone"}}), 5);
  EXPECT_EQ(metrics.value("c"), 7);
  metrics.count("a_total", "Help.", {{"pool", "gone"}, {"x", "1"}});
  EXPECT_EQ(metrics.value("a_total", {{"pool", "gone"}, {"x", "1"}}), 1) << "counted from 0";
}

TEST(Metrics, ObserveKeepsTheBucketsOfTheFirstCall) {
  Metrics metrics;
  metrics.observe("seconds", "Help.", {{"a", "1"}}, 0.5, {0.1, 1});
  metrics.observe("seconds", "Help.", {{"a", "1"}}, 5, {7});
  metrics.observe("seconds", "Help.", {{"a", "2"}}, 5, {7});
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("seconds_bucket{a=\"1\",le=\"0.1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{a=\"1\",le=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{a=\"1\",le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{a=\"2\",le=\"1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("seconds_sum{a=\"1\"} 5.5\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE seconds histogram\n"));
}

TEST(Metrics, ObserveHasDurationBucketsUpToTenMinutesByDefault) {
  Metrics metrics;
  metrics.observe("seconds", "Help.", {}, 599);
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("seconds_bucket{le=\"0.005\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{le=\"450\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("seconds_bucket{le=\"600\"} 1\n"));
}

TEST(Metrics, SummarizeTellsQuantilesCountAndSum) {
  Metrics metrics;
  for (int i = 1; i <= 100; ++i) {
    metrics.summarize("seconds", "Help.", {{"a", "1"}}, i);
  }
  const std::string text = metrics.render();
  EXPECT_THAT(text, HasSubstr("# TYPE seconds summary\n"));
  EXPECT_THAT(text, HasSubstr("seconds_count{a=\"1\"} 100\n"));
  EXPECT_THAT(text, HasSubstr("seconds_sum{a=\"1\"} 5050\n"));
  // Quantiles are estimates, a hundredth of all values off at most.
  for (const auto& [quantile, value] :
       {std::pair{"0", 1.0}, {"0.5", 50.0}, {"0.9", 90.0}, {"0.99", 99.0}, {"1", 100.0}}) {
    const std::string line = std::string("seconds{a=\"1\",quantile=\"") + quantile + "\"} ";
    const auto at = text.find(line);
    ASSERT_NE(at, std::string::npos) << line;
    EXPECT_NEAR(std::stod(text.substr(at + line.size())), value, 2) << line;
  }
  EXPECT_EQ(metrics.value("seconds", {{"a", "1"}}), 0) << "a summary has no one value";
}

TEST(Metrics, PageIsSortedWhateverTheOrderOfCalls) {
  const std::vector<std::string> values{"d", "a", "c", "b", "f", "e"};
  Metrics forwards;
  Metrics backwards;
  for (std::size_t i = 0; i < values.size(); ++i) {
    forwards.set("m_" + values[i], "Help.", {}, 1);
    forwards.count("n_total", "Help.", {{"x", values[i]}});
    const std::string& other = values[values.size() - 1 - i];
    backwards.count("n_total", "Help.", {{"x", other}});
    backwards.set("m_" + other, "Help.", {}, 1);
  }
  EXPECT_EQ(forwards.render(), backwards.render());
  EXPECT_LT(forwards.render().find("x=\"a\""), forwards.render().find("x=\"b\""));
}

TEST(Metrics, UsingOneNameAsTwoKindsIsADefect) {
  Metrics metrics;
  metrics.count("a_total", "Help.");
  EXPECT_THROW(metrics.set("a_total", "Help.", {}, 1), std::logic_error);
}

TEST(Metrics, MayBeUsedFromSeveralThreads) {
  Metrics metrics;
  const auto work = [&metrics] {
    for (int i = 0; i < 500; ++i) {
      metrics.count("a_total", "Help.", {{"i", std::to_string(i % 5)}});
    }
  };
  std::thread one(work);
  std::thread two(work);
  one.join();
  two.join();
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    sum += metrics.value("a_total", {{"i", std::to_string(i)}});
  }
  EXPECT_EQ(sum, 1000);
}

}  // namespace
}  // namespace millwright::base
