// Sets of requirements: compatibility, undefined keys, hints, what a pod asks for.
#include "millwright/scheduling/requirements.hpp"

#include "unit/scheduling/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::scheduling {
namespace {

using model::Operator;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::in;
using testing::need;
using testing::pod;

Requirements set(std::vector<model::SelectorRequirement> items) {
  return Requirements(items);
}

TEST(Requirements, AddingToAPresentKeyIntersects) {
  Requirements requirements = set({need("a", Operator::In, {"1", "2"})});
  requirements.add(in("a", {"2", "3"}));
  EXPECT_THAT(requirements.get("a").values(), ElementsAre("2"));
  requirements.replace(in("a", {"9"}));
  EXPECT_THAT(requirements.get("a").values(), ElementsAre("9"));
  EXPECT_EQ(requirements.size(), 1u);
}

TEST(Requirements, AMissingKeyExists) {
  EXPECT_EQ(Requirements().get("a").op(), Operator::Exists);
  EXPECT_EQ(Requirements().find("a"), nullptr);
}

TEST(Requirements, AreSortedByKeyAndHideTheHostnameInMessages) {
  Requirements requirements = set({need("b", Operator::Exists), need("a", Operator::In, {"1"})});
  requirements.add(in(model::kHostnameLabel, {"x"}));
  EXPECT_EQ(requirements.to_string(), "a In [1], b Exists");
}

TEST(Requirements, UndefinedCustomKeysMustBeAllowedToBeAbsent) {
  const Requirements nothing;
  for (const auto allow : {AllowUndefined::None, AllowUndefined::WellKnown}) {
    EXPECT_FALSE(nothing.compatible(set({need("team", Operator::In, {"a"})}), allow));
    EXPECT_FALSE(nothing.compatible(set({need("team", Operator::Exists)}), allow));
    EXPECT_FALSE(nothing.compatible(set({need("team", Operator::Gt, {"1"})}), allow));
    EXPECT_TRUE(nothing.compatible(set({need("team", Operator::NotIn, {"a"})}), allow));
    EXPECT_TRUE(nothing.compatible(set({need("team", Operator::DoesNotExist)}), allow));
  }
}

TEST(Requirements, UndefinedWellKnownKeysAreFineForNewNodesOnly) {
  const auto zone = set({need(model::kZoneLabel, Operator::In, {"a"})});
  EXPECT_TRUE(Requirements().compatible(zone, AllowUndefined::WellKnown));
  EXPECT_FALSE(Requirements().compatible(zone, AllowUndefined::None));
}

TEST(Requirements, IntersectsLooksAtSharedKeysOnly) {
  const auto a = set({need("x", Operator::In, {"1"}), need("y", Operator::In, {"1"})});
  EXPECT_TRUE(a.intersects(set({need("z", Operator::In, {"1"})})));
  EXPECT_FALSE(a.intersects(set({need("x", Operator::In, {"2"})})));
}

TEST(Requirements, SayWhatDoesNotFit) {
  const auto offered = set({need("zone", Operator::In, {"a", "b"})});
  EXPECT_EQ(offered.incompatibility(set({need("zone", Operator::In, {"c"})}), AllowUndefined::None),
            "wanted zone In [c], offered zone In [a b]");
  EXPECT_EQ(offered.incompatibility(set({need("zone", Operator::In, {"a"})}), AllowUndefined::None),
            "");
}

struct Hint {
  std::string key;
  std::string expected;  // the label named, or empty
};

TEST(Requirements, HintAtTheLabelThatWasProbablyMeant) {
  const std::vector<Hint> cases = {
      {"zone", "topology.kubernetes.io/zone"},
      {"topology.kubernetes.io/zon", "topology.kubernetes.io/zone"},
      {"topology.kubernetesio/zone", "topology.kubernetes.io/zone"},
      {"my.company/capacity-type", "karpenter.sh/capacity-type"},
      {"karpenter.sh/capactiy-type", "karpenter.sh/capacity-type"},
      {"instance-type", "node.kubernetes.io/instance-type"},
      {"teem", "team"},
      {"unrelated", ""},
  };
  const auto offered = set({need("team", Operator::In, {"a"})});
  for (const auto& test : cases) {
    const auto problem = offered.incompatibility(set({need(test.key, Operator::In, {"a"})}),
                                                 AllowUndefined::WellKnown);
    EXPECT_THAT(problem, HasSubstr("label \"" + test.key + "\" has no known values"));
    if (test.expected.empty()) {
      EXPECT_EQ(problem.find("did you mean"), problem.npos) << problem;
    } else {
      EXPECT_THAT(problem, HasSubstr("did you mean \"" + test.expected + "\""));
    }
  }
}

TEST(Requirements, OfAPodAreSelectorHeaviestPreferenceAndFirstTerm) {
  const auto spec = pod("p")
                        .selects("s", "1")
                        .requires_term({need("t", Operator::In, {"first"})})
                        .requires_term({need("t", Operator::In, {"second"})})
                        .prefers(1, {need("p", Operator::In, {"light"})})
                        .prefers(50, {need("p", Operator::In, {"heavy"})})
                        .value()
                        .spec;
  EXPECT_EQ(pod_requirements(spec).to_string(), "p In [heavy], s In [1], t In [first]");
  EXPECT_EQ(strict_pod_requirements(spec).to_string(), "s In [1], t In [first]");
}

TEST(Requirements, KnowWhetherTheyHaveMinValues) {
  EXPECT_FALSE(set({need("a", Operator::Exists)}).has_min_values());
  EXPECT_TRUE(set({need("a", Operator::Exists, {}, 2)}).has_min_values());
}

}  // namespace
}  // namespace millwright::scheduling
