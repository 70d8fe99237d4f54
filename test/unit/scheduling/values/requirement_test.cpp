// One requirement: membership, texts, serialisation, normalisation.
#include "millwright/scheduling/requirements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace millwright::scheduling {
namespace {

using model::Operator;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Requirement make(Operator op, std::vector<std::string> values = {},
                 std::optional<std::int32_t> min_values = std::nullopt) {
  return Requirement("key", op, values, min_values);
}

TEST(Requirement, KnowsItsOperator) {
  EXPECT_EQ(make(Operator::In, {"a"}).op(), Operator::In);
  EXPECT_EQ(make(Operator::In).op(), Operator::DoesNotExist);
  EXPECT_EQ(make(Operator::NotIn, {"a"}).op(), Operator::NotIn);
  EXPECT_EQ(make(Operator::NotIn).op(), Operator::Exists);
  EXPECT_EQ(make(Operator::Exists).op(), Operator::Exists);
  EXPECT_EQ(make(Operator::DoesNotExist).op(), Operator::DoesNotExist);
  EXPECT_EQ(make(Operator::Gt, {"1"}).op(), Operator::Exists);
  EXPECT_EQ(make(Operator::Lte, {"1"}).op(), Operator::Exists);
}

struct Membership {
  Operator op;
  std::vector<std::string> values;
  std::string value;
  bool expected;
};

TEST(Requirement, AdmitsTheValuesItsOperatorSays) {
  const std::vector<Membership> cases = {
      {Operator::In, {"a", "b"}, "a", true},
      {Operator::In, {"a", "b"}, "c", false},
      {Operator::In, {}, "", false},
      {Operator::NotIn, {"a"}, "a", false},
      {Operator::NotIn, {"a"}, "b", true},
      {Operator::Exists, {}, "", true},
      {Operator::DoesNotExist, {}, "a", false},
      {Operator::Gt, {"1"}, "1", false},
      {Operator::Gt, {"1"}, "2", true},
      {Operator::Gt, {"1"}, "a", false},
      {Operator::Gt, {"1"}, "2.5", false},
      {Operator::Lt, {"9"}, "9", false},
      {Operator::Lt, {"9"}, "8", true},
      {Operator::Lt, {"9"}, "-3", true},
      {Operator::Gte, {"3"}, "3", true},
      {Operator::Gte, {"3"}, "2", false},
      {Operator::Lte, {"3"}, "3", true},
      {Operator::Lte, {"3"}, "4", false},
      {Operator::Lte, {"3"}, "", false},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(make(test.op, test.values).has(test.value), test.expected)
        << make(test.op, test.values).to_string() << " has " << test.value;
  }
}

TEST(Requirement, BoundsNobodyCanMeetAdmitNothing) {
  const auto max = std::to_string(std::numeric_limits<std::int64_t>::max());
  const auto min = std::to_string(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(make(Operator::Gt, {max}).op(), Operator::DoesNotExist);
  EXPECT_EQ(make(Operator::Lt, {min}).op(), Operator::DoesNotExist);
  EXPECT_TRUE(make(Operator::Gte, {max}).has(max));
  for (const auto op : {Operator::Gt, Operator::Lt, Operator::Gte, Operator::Lte}) {
    EXPECT_EQ(make(op, {"text"}).op(), Operator::DoesNotExist);
    EXPECT_EQ(make(op, {}).op(), Operator::DoesNotExist);
    EXPECT_EQ(make(op, {"99999999999999999999"}).op(), Operator::DoesNotExist);
  }
}

TEST(Requirement, ValuesAreSortedAndUnique) {
  EXPECT_THAT(make(Operator::In, {"b", "a", "b"}).values(), ElementsAre("a", "b"));
}

TEST(Requirement, BetaKeysBecomeStable) {
  EXPECT_EQ(Requirement("failure-domain.beta.kubernetes.io/zone", Operator::Exists).key(),
            "topology.kubernetes.io/zone");
  EXPECT_EQ(Requirement("beta.kubernetes.io/arch", Operator::Exists).key(), "kubernetes.io/arch");
  EXPECT_EQ(Requirement("beta.kubernetes.io/instance-type", Operator::Exists).key(),
            "node.kubernetes.io/instance-type");
}

TEST(Requirement, ReadsWellInMessages) {
  EXPECT_EQ(make(Operator::In, {"b", "a"}).to_string(), "key In [a b]");
  EXPECT_EQ(make(Operator::NotIn, {"a"}).to_string(), "key NotIn [a]");
  EXPECT_EQ(make(Operator::Exists).to_string(), "key Exists");
  EXPECT_EQ(make(Operator::DoesNotExist).to_string(), "key DoesNotExist");
  EXPECT_EQ(make(Operator::Gt, {"1"}).to_string(), "key Exists >=2");
  EXPECT_EQ(make(Operator::Lt, {"9"}).to_string(), "key Exists <=8");
  EXPECT_EQ(make(Operator::In, {"a", "b", "c", "d", "e"}).to_string(), "key In [a b c d e]");
  EXPECT_EQ(make(Operator::In, {"a", "b", "c", "d", "e", "f", "g", "h"}, 2).to_string(),
            "key In [a b c d e and 3 others] minValues 2");
}

TEST(Requirement, IsWrittenAsSelectors) {
  const auto items = [](const Requirement& requirement) {
    std::vector<std::string> result;
    for (const auto& item : requirement.to_selectors()) {
      std::string text(model::to_string(item.op));
      for (const auto& value : item.values) {
        text += " " + value;
      }
      if (item.min_values) {
        text += " min " + std::to_string(*item.min_values);
      }
      result.push_back(text);
    }
    return result;
  };
  EXPECT_THAT(items(make(Operator::In, {"b", "a"}, 1)), ElementsAre("In a b min 1"));
  EXPECT_THAT(items(make(Operator::Exists)), ElementsAre("Exists"));
  EXPECT_THAT(items(make(Operator::DoesNotExist)), ElementsAre("DoesNotExist"));
  EXPECT_THAT(items(make(Operator::Gt, {"1"})), ElementsAre("Gte 2"));
  EXPECT_THAT(items(make(Operator::Gte, {"2"}, 3).intersection(make(Operator::Lte, {"8"}))),
              ElementsAre("Gte 2 min 3", "Lte 8 min 3"));
  // Exclusions survive next to bounds.
  EXPECT_THAT(items(make(Operator::Gt, {"1"}).intersection(make(Operator::NotIn, {"5", "a"}))),
              ElementsAre("NotIn 5", "Gte 2"));
}

TEST(Requirement, IntersectionKeepsTheLargerMinValues) {
  const auto both = make(Operator::In, {"a", "b"}, 1).intersection(make(Operator::Exists, {}, 2));
  EXPECT_EQ(both.min_values(), 2);
  EXPECT_EQ(make(Operator::Gt, {"9"}, 4).intersection(make(Operator::Lt, {"1"})).min_values(), 4);
  EXPECT_EQ(make(Operator::Exists).intersection(make(Operator::Exists)).min_values(), std::nullopt);
}

TEST(Requirement, IntersectionDropsBoundsOnceTheSetIsFinite) {
  const auto both = make(Operator::Gte, {"2"}).intersection(make(Operator::In, {"1", "2", "x"}));
  EXPECT_THAT(both.values(), ElementsAre("2"));
  EXPECT_EQ(both.gte(), std::nullopt);
  EXPECT_FALSE(both.is_complement());
}

TEST(Requirement, CrossedBoundsAdmitNothing) {
  const auto both = make(Operator::Gt, {"5"}).intersection(make(Operator::Lt, {"5"}));
  EXPECT_EQ(both.op(), Operator::DoesNotExist);
  EXPECT_THAT(both.values(), IsEmpty());
}

}  // namespace
}  // namespace millwright::scheduling
