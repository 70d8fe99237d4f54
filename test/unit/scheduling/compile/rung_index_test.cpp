// Which rungs may join what has given requirements, beside a look at every rung.
#include "scheduling/compile/pods/rung_index.hpp"

#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace millwright::scheduling::testing {
namespace {

using ::testing::IsEmpty;

// A pod per selector, and with each a rung.
PodClasses pods_that_select(const std::vector<model::StringMap>& selectors) {
  ProblemBuilder problem;
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    problem.add(pod("pod-" + std::to_string(i)).with([&](model::Pod& p) {
      p.spec.node_selector = selectors[i];
    }));
  }
  return classify(problem.problem(), {});
}

std::vector<model::StringMap> applications(int count) {
  std::vector<model::StringMap> selectors;
  for (int i = 0; i < count; ++i) {
    selectors.push_back({{"app", std::to_string(i)}});
  }
  return selectors;
}

Requirement random_requirement() {
  const std::string key(1, static_cast<char>(*rc::gen::inRange('k', 'o')));
  std::vector<std::string> values;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    values.emplace_back(1, static_cast<char>(*rc::gen::inRange('a', 'e')));
  }
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return Requirement(key, model::Operator::NotIn, values);
    case 1:
      return Requirement(key, model::Operator::Exists);
    case 2:
      return Requirement(key, model::Operator::DoesNotExist);
    default:
      return Requirement::in(key, values);
  }
}

Requirements random_requirements() {
  Requirements result;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    result.add(random_requirement());
  }
  return result;
}

RC_GTEST_PROP(RungIndexProperty, FindsWhatALookAtEveryRungFinds, ()) {
  PodClasses pods;
  Constraint& constraint = pods.constraints.emplace_back();
  for (int i = *rc::gen::inRange(0, 20); i > 0; --i) {
    Rung rung;
    rung.id = pods.rung_count++;
    rung.requirements = random_requirements();
    constraint.ladder.push_back(std::move(rung));
  }
  const RungIndex index(pods);
  const Requirements wanted = random_requirements();
  std::vector<std::uint32_t> expected;
  for (const Rung& rung : constraint.ladder) {
    if (wanted.intersects(rung.requirements)) {
      expected.push_back(rung.id);
    }
  }
  RC_ASSERT(index.meeting(wanted) == expected);
}

TEST(RungIndex, OfNoRungsFindsNone) {
  EXPECT_THAT(RungIndex(PodClasses()).meeting(Requirements()), IsEmpty());
}

TEST(RungIndex, ApplicationsThatSelectNodesOfTheirOwnAreMostlyApart) {
  const PodClasses pods = pods_that_select(applications(8));
  ASSERT_EQ(pods.rung_count, 8U);
  EXPECT_TRUE(RungIndex(pods).mostly_apart());
}

TEST(RungIndex, PodsOfWhichMostGoAnywhereAreNotApart) {
  std::vector<model::StringMap> selectors = {{{"zone", "a"}}, {{"zone", "b"}}};
  for (int i = 0; i < 4; ++i) {
    selectors.push_back({{"key-" + std::to_string(i), "x"}});
  }
  EXPECT_FALSE(RungIndex(pods_that_select(selectors)).mostly_apart());
}

}  // namespace
}  // namespace millwright::scheduling::testing
