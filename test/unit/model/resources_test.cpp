#include "millwright/model/resources.hpp"

#include <gtest/gtest.h>

namespace millwright::model {
namespace {

ResourceList list(std::initializer_list<std::pair<const char*, const char*>> entries) {
  ResourceList out;
  for (const auto& [name, text] : entries) {
    out[name] = Quantity::parse(text).value();
  }
  return out;
}

TEST(ResourceLists, MissingMeansZero) {
  EXPECT_EQ(get(list({{"cpu", "1"}}), kCpu).units(), 1);
  EXPECT_TRUE(get({}, kMemory).is_zero());
}

TEST(ResourceLists, AddSubtractAndMaximumWorkPerResource) {
  ResourceList total = list({{"cpu", "1"}, {"memory", "1Gi"}});
  add_to(total, list({{"cpu", "500m"}, {"pods", "1"}}));
  EXPECT_EQ(to_string(total), "{cpu: 1500m, memory: 1Gi, pods: 1}");
  subtract_from(total, list({{"cpu", "2"}, {"gpu", "1"}}));
  EXPECT_EQ(to_string(total), "{cpu: -500m, gpu: -1, memory: 1Gi, pods: 1}");
  max_into(total, list({{"cpu", "250m"}, {"memory", "1Mi"}, {"disk", "1"}}));
  EXPECT_EQ(to_string(total), "{cpu: 250m, disk: 1, gpu: -1, memory: 1Gi, pods: 1}");
  EXPECT_EQ(to_string(ResourceList{}), "{}");
}

TEST(ResourceLists, FitWhenEveryRequestIsCovered) {
  const ResourceList total = list({{"cpu", "2"}, {"memory", "1Gi"}});
  EXPECT_TRUE(fits({}, total));
  EXPECT_TRUE(fits(list({{"cpu", "2"}}), total));
  EXPECT_FALSE(fits(list({{"cpu", "2001m"}}), total));
  EXPECT_FALSE(fits(list({{"gpu", "1"}}), total));
  EXPECT_TRUE(fits(list({{"gpu", "0"}}), total));
}

TEST(ResourceLists, NothingFitsWhereAnyTotalIsNegative) {
  EXPECT_FALSE(fits({}, list({{"cpu", "2"}, {"memory", "-1"}})));
  EXPECT_FALSE(fits(list({{"cpu", "1"}}), list({{"cpu", "2"}, {"memory", "-1"}})));
}

}  // namespace
}  // namespace millwright::model
