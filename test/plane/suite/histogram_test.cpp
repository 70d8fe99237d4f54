#include "plane/runner/histogram.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace millwright::plane {
namespace {

constexpr const char* kBefore = R"(# TYPE took histogram
took_bucket{verb="filter",le="0.1"} 8
took_bucket{verb="filter",le="0.5"} 9
took_bucket{verb="filter",le="+Inf"} 10
took_count{verb="filter"} 10
took_bucket{verb="preempt",le="0.1"} 0
took_bucket{verb="preempt",le="0.5"} 0
took_bucket{verb="preempt",le="+Inf"} 5
)";
constexpr const char* kAfter = R"(took_bucket{verb="filter",le="0.1"} 8
took_bucket{verb="filter",le="0.5"} 109
took_bucket{verb="filter",le="+Inf"} 110
)";

TEST(PageHistogram, SaysWhichBucketAShareIsIn) {
  const auto filter = Histogram::read(kBefore, "took", "verb=\"filter\"");
  EXPECT_EQ(filter.count(), 10);
  EXPECT_EQ(filter.quantile(0.5), 0.1);
  EXPECT_EQ(filter.quantile(0.9), 0.5);
  EXPECT_TRUE(std::isinf(filter.quantile(1)));
}

TEST(PageHistogram, CountsWhatCameSince) {
  const auto before = Histogram::read(kBefore, "took", "verb=\"filter\"");
  const auto since = Histogram::read(kAfter, "took", "verb=\"filter\"").since(before);
  EXPECT_EQ(since.count(), 100);
  EXPECT_EQ(since.quantile(0.01), 0.5);
}

TEST(PageHistogram, OfSeveralSeriesIsTheirSum) {
  EXPECT_EQ(Histogram::read(kBefore, "took").count(), 15);
}

TEST(PageHistogram, OfNothingIsEmpty) {
  EXPECT_EQ(Histogram::read(kBefore, "other").count(), 0);
  EXPECT_EQ(Histogram::read(kBefore, "other").quantile(0.99), 0);
}

}  // namespace
}  // namespace millwright::plane
