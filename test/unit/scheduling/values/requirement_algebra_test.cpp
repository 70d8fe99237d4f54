// Every pair of operators against an oracle that only knows what each operator admits, and the
// laws of a set algebra on random requirements.
#include "millwright/scheduling/requirements.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

namespace millwright::scheduling {
namespace {

using model::Operator;

constexpr std::string_view kCustomKey = "example.com/key";

struct Spec {
  Operator op;
  std::vector<std::string> values;

  Requirement build() const { return Requirement(kCustomKey, op, values); }
  // The oracle: what the operator says about one value, straight from the API's definition.
  bool admits(const std::string& value) const {
    const bool listed = std::find(values.begin(), values.end(), value) != values.end();
    const bool number = !value.empty() && value.find_first_not_of("0123456789") == value.npos;
    switch (op) {
      case Operator::In:
        return listed;
      case Operator::NotIn:
        return !listed;
      case Operator::Exists:
        return true;
      case Operator::DoesNotExist:
        return false;
      case Operator::Gt:
        return number && std::stoll(value) > std::stoll(values.front());
      case Operator::Lt:
        return number && std::stoll(value) < std::stoll(values.front());
      case Operator::Gte:
        return number && std::stoll(value) >= std::stoll(values.front());
      case Operator::Lte:
        return number && std::stoll(value) <= std::stoll(values.front());
    }
    return false;
  }
  bool admits_absence() const { return op == Operator::DoesNotExist || op == Operator::NotIn; }
};

const std::vector<std::string>& universe() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> all = {"A", "B", "C", "never-mentioned", "00", "05", "1x"};
    for (int i = 0; i <= 12; ++i) {
      all.push_back(std::to_string(i));
    }
    return all;
  }();
  return kAll;
}

const std::vector<Spec>& specs() {
  static const std::vector<Spec> kAll = [] {
    std::vector<Spec> all = {{Operator::Exists, {}}, {Operator::DoesNotExist, {}}};
    const std::vector<std::vector<std::string>> sets = {
        {"A"}, {"B"}, {"A", "B"}, {"1"}, {"9"}, {"1", "9"}, {"5", "A"}, {"2"}, {"0", "11"}};
    for (const auto& values : sets) {
      all.push_back({Operator::In, values});
      all.push_back({Operator::NotIn, values});
    }
    for (const auto op : {Operator::Gt, Operator::Lt, Operator::Gte, Operator::Lte}) {
      for (const char* bound : {"1", "2", "5", "8", "9"}) {
        all.push_back({op, {bound}});
      }
    }
    return all;
  }();
  return kAll;
}

Requirements only(const Requirement& requirement) {
  Requirements result;
  result.add(requirement);
  return result;
}

TEST(RequirementAlgebra, EveryPairAgreesWithTheOracle) {
  for (const Spec& a : specs()) {
    for (const Spec& b : specs()) {
      const Requirement left = a.build();
      const Requirement right = b.build();
      const Requirement both = left.intersection(right);
      bool any = false;
      for (const auto& value : universe()) {
        const bool expected = a.admits(value) && b.admits(value);
        any = any || expected;
        EXPECT_EQ(both.has(value), expected)
            << left.to_string() << " and " << right.to_string() << " on " << value;
      }
      EXPECT_EQ(left.has_intersection(right), any)
          << left.to_string() << " and " << right.to_string();
      EXPECT_EQ(both.admits_absence(), a.admits_absence() && b.admits_absence())
          << left.to_string() << " and " << right.to_string();
      const bool meet = any || (a.admits_absence() && b.admits_absence());
      EXPECT_EQ(only(left).compatible(only(right), AllowUndefined::None), meet);
      EXPECT_EQ(only(left).incompatibility(only(right), AllowUndefined::None).empty(), meet);
      EXPECT_EQ(only(left).intersects(only(right)), meet);
    }
  }
}

TEST(RequirementAlgebra, WritingAndReadingBackChangesNoMembership) {
  for (const Spec& a : specs()) {
    for (const Spec& b : specs()) {
      const Requirement both = a.build().intersection(b.build());
      const Requirements again(both.to_selectors());
      for (const auto& value : universe()) {
        EXPECT_EQ(again.get(kCustomKey).has(value), both.has(value)) << both.to_string();
      }
      if (!both.is_impossible()) {
        EXPECT_EQ(again.get(kCustomKey).admits_absence(), both.admits_absence());
      }
    }
  }
}

Requirement random_requirement() {
  const auto& all = specs();
  Requirement result = all[*rc::gen::inRange<std::size_t>(0, all.size())].build();
  const int more = *rc::gen::inRange(0, 3);
  for (int i = 0; i < more; ++i) {
    result = result.intersection(all[*rc::gen::inRange<std::size_t>(0, all.size())].build());
  }
  return result;
}

TEST(RequirementAlgebra, IntersectionIsCommutative) {
  EXPECT_TRUE(rc::check([] {
    const auto a = random_requirement();
    const auto b = random_requirement();
    RC_ASSERT(a.intersection(b) == b.intersection(a));
    RC_ASSERT(a.has_intersection(b) == b.has_intersection(a));
  }));
}

TEST(RequirementAlgebra, IntersectionIsAssociative) {
  EXPECT_TRUE(rc::check([] {
    const auto a = random_requirement();
    const auto b = random_requirement();
    const auto c = random_requirement();
    RC_ASSERT(a.intersection(b).intersection(c) == a.intersection(b.intersection(c)));
  }));
}

TEST(RequirementAlgebra, IntersectionWithItselfChangesNothing) {
  EXPECT_TRUE(rc::check([] {
    const auto a = random_requirement();
    RC_ASSERT(a.intersection(a) == a);
  }));
}

TEST(RequirementAlgebra, AnIntersectionAdmitsWhatBothAdmit) {
  EXPECT_TRUE(rc::check([] {
    const auto a = random_requirement();
    const auto b = random_requirement();
    for (const auto& value : universe()) {
      RC_ASSERT(a.intersection(b).has(value) == (a.has(value) && b.has(value)));
    }
    RC_ASSERT(!a.intersection(b).admits_absence() || (a.admits_absence() && b.admits_absence()));
  }));
}

}  // namespace
}  // namespace millwright::scheduling
