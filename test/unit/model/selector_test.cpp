#include "millwright/model/selector.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace millwright::model {
namespace {

const StringMap kLabels{{"app", "web"}, {"size", "10"}, {"empty", ""}};

struct SelectorCase {
  std::string name;
  SelectorRequirement requirement;
  bool matches;
};

class Requirement : public testing::TestWithParam<SelectorCase> {};
TEST_P(Requirement, FollowsKubeScheduler) {
  EXPECT_EQ(matches(GetParam().requirement, kLabels), GetParam().matches);
}
INSTANTIATE_TEST_SUITE_P(
    Operators, Requirement,
    testing::Values(SelectorCase{"In", {"app", Operator::In, {"db", "web"}}, true},
                    SelectorCase{"InOther", {"app", Operator::In, {"db"}}, false},
                    SelectorCase{"InAbsent", {"x", Operator::In, {""}}, false},
                    SelectorCase{"InEmptyValue", {"empty", Operator::In, {""}}, true},
                    SelectorCase{"NotIn", {"app", Operator::NotIn, {"db"}}, true},
                    SelectorCase{"NotInOwn", {"app", Operator::NotIn, {"web"}}, false},
                    SelectorCase{"NotInAbsent", {"x", Operator::NotIn, {"a"}}, true},
                    SelectorCase{"Exists", {"app", Operator::Exists, {}}, true},
                    SelectorCase{"ExistsAbsent", {"x", Operator::Exists, {}}, false},
                    SelectorCase{"DoesNotExist", {"x", Operator::DoesNotExist, {}}, true},
                    SelectorCase{"DoesNotExistPresent", {"app", Operator::DoesNotExist, {}}, false},
                    SelectorCase{"Gt", {"size", Operator::Gt, {"9"}}, true},
                    SelectorCase{"GtEqual", {"size", Operator::Gt, {"10"}}, false},
                    SelectorCase{"GtIsNotTextual", {"size", Operator::Gt, {"2"}}, true},
                    SelectorCase{"GtNegative", {"size", Operator::Gt, {"-1"}}, true},
                    SelectorCase{"Lt", {"size", Operator::Lt, {"11"}}, true},
                    SelectorCase{"LtEqual", {"size", Operator::Lt, {"10"}}, false},
                    SelectorCase{"Gte", {"size", Operator::Gte, {"10"}}, true},
                    SelectorCase{"Lte", {"size", Operator::Lte, {"10"}}, true},
                    SelectorCase{"LteLess", {"size", Operator::Lte, {"9"}}, false},
                    SelectorCase{"GtOfText", {"app", Operator::Gt, {"1"}}, false},
                    SelectorCase{"GtText", {"size", Operator::Gt, {"x"}}, false},
                    SelectorCase{"GtAbsent", {"x", Operator::Gt, {"1"}}, false},
                    SelectorCase{"LtAbsent", {"x", Operator::Lt, {"1"}}, false},
                    SelectorCase{"GtTwoValues", {"size", Operator::Gt, {"1", "2"}}, false},
                    SelectorCase{"GtNoValue", {"size", Operator::Gt, {}}, false},
                    SelectorCase{
                        "GtTooLarge", {"size", Operator::Lt, {"99999999999999999999"}}, false}),
    [](const auto& param) { return param.param.name; });

TEST(Operators, HaveTextsThatCanBeReadBack) {
  for (const Operator op : {Operator::In, Operator::NotIn, Operator::Exists, Operator::DoesNotExist,
                            Operator::Gt, Operator::Lt, Operator::Gte, Operator::Lte}) {
    EXPECT_EQ(parse_operator(to_string(op)), op);
  }
  EXPECT_EQ(parse_operator("in"), std::nullopt);
  EXPECT_EQ(parse_operator(""), std::nullopt);
}

TEST(LabelSelectors, AnEmptyOneMatchesEverything) {
  EXPECT_TRUE(LabelSelector{}.empty());
  EXPECT_TRUE(LabelSelector{}.matches({}));
  EXPECT_TRUE(LabelSelector{}.matches(kLabels));
}

TEST(LabelSelectors, NeedAllTheirParts) {
  LabelSelector selector{.match_labels = {{"app", "web"}}};
  EXPECT_TRUE(selector.matches(kLabels));
  selector.match_expressions = {{"size", Operator::Exists, {}}};
  EXPECT_TRUE(selector.matches(kLabels));
  selector.match_expressions.push_back({"x", Operator::Exists, {}});
  EXPECT_FALSE(selector.matches(kLabels));
  selector = {.match_labels = {{"app", "db"}}};
  EXPECT_FALSE(selector.matches(kLabels));
}

TEST(NodeSelectorTerms, NeedAllTheirPartsAndMatchNothingWhenEmpty) {
  EXPECT_FALSE(matches(NodeSelectorTerm{}, kLabels, "n1"));
  NodeSelectorTerm term{.match_expressions = {{"app", Operator::In, {"web"}}}};
  EXPECT_TRUE(matches(term, kLabels, "n1"));
  term.match_fields = {{"metadata.name", Operator::In, {"n1"}}};
  EXPECT_TRUE(matches(term, kLabels, "n1"));
  EXPECT_FALSE(matches(term, kLabels, "n2"));
  term.match_expressions.clear();
  EXPECT_TRUE(matches(term, {}, "n1"));
  term.match_fields = {{"metadata.name", Operator::NotIn, {"n1"}}};
  EXPECT_FALSE(matches(term, {}, "n1"));
  EXPECT_TRUE(matches(term, {}, "n2"));
  term.match_fields = {{"metadata.uid", Operator::In, {"n1"}}};
  EXPECT_FALSE(matches(term, {}, "n1"));
}

TEST(SelectorText, ReadsEveryForm) {
  const auto selector =
      parse_label_selector(" a=b, c!=d,e in (f, g ,f) ,h,!i,j==k,l notin (m),n>3,o<4,p=,q in (,r)");
  ASSERT_TRUE(selector) << selector.error().message;
  EXPECT_EQ(selector->match_labels, (StringMap{{"a", "b"}, {"j", "k"}, {"p", ""}}));
  const std::vector<SelectorRequirement> expected{
      {"c", Operator::NotIn, {"d"}}, {"e", Operator::In, {"f", "g"}},
      {"h", Operator::Exists, {}},   {"i", Operator::DoesNotExist, {}},
      {"l", Operator::NotIn, {"m"}}, {"n", Operator::Gt, {"3"}},
      {"o", Operator::Lt, {"4"}},    {"q", Operator::In, {"", "r"}}};
  EXPECT_EQ(selector->match_expressions, expected);
}

TEST(SelectorText, EmptyMeansEverything) {
  EXPECT_TRUE(parse_label_selector("").value().empty());
  EXPECT_TRUE(parse_label_selector("  ").value().empty());
}

TEST(SelectorText, ContradictionsAreKeptAndMatchNothing) {
  const auto selector = parse_label_selector("a=b,a=c").value();
  EXPECT_FALSE(selector.matches({{"a", "b"}}));
  EXPECT_FALSE(selector.matches({{"a", "c"}}));
  EXPECT_TRUE(parse_label_selector("a=b,a=b").value().matches({{"a", "b"}}));
}

class BadSelectorText : public testing::TestWithParam<const char*> {};
TEST_P(BadSelectorText, IsInvalid) {
  const auto selector = parse_label_selector(GetParam());
  ASSERT_FALSE(selector);
  EXPECT_EQ(selector.error().kind, base::ErrorKind::Invalid);
}
INSTANTIATE_TEST_SUITE_P(Texts, BadSelectorText,
                         testing::Values(",", "a,", ",a", "a=b,,c", "=", "a=b=c", "a in", "a in (b",
                                         "a in b", "a within (b)", "!", "!a=b", "a!b", "a>b", "a>",
                                         "a<1.5", "-a", "a=b c", "a b", "a=-", "a in (b) c", "(a)",
                                         "a in (b))", "a=b;c=d"));

TEST(SelectorText, IsPrintedSortedByKey) {
  const auto selector = parse_label_selector("z,b in (y,x),a=1,!c,d!=e,f>2").value();
  EXPECT_EQ(to_string(selector), "a=1,b in (x,y),!c,d notin (e),f>2,z");
  EXPECT_EQ(to_string(LabelSelector{}), "");
}

RC_GTEST_PROP(SelectorText, SurvivesPrintingAndReading, ()) {
  const auto word = [] {
    return *rc::gen::element<std::string>("a", "b", "c.d/e", "f-g", "in", "notin", "9");
  };
  LabelSelector selector;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) {
    selector.match_labels[word()] = word() == "c.d/e" ? "" : "v";
  }
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    const auto op =
        *rc::gen::element(Operator::In, Operator::NotIn, Operator::Exists, Operator::DoesNotExist);
    SelectorRequirement requirement{word(), op, {}};
    if (op == Operator::In || op == Operator::NotIn) {
      requirement.values = {"", "v", "w"};
      requirement.values.resize(*rc::gen::inRange<std::size_t>(1, 4));
    }
    selector.match_expressions.push_back(requirement);
  }
  const auto again = parse_label_selector(to_string(selector));
  RC_ASSERT(again.has_value());
  RC_ASSERT(to_string(*again) == to_string(selector));
  const StringMap labels{{"a", "v"}, {"f-g", ""}, {"in", "w"}};
  RC_ASSERT(again->matches(labels) == selector.matches(labels));
}

RC_GTEST_PROP(SelectorText, ArbitraryTextNeverCrashesTheParser, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab in(),=!<>1 not")));
  parse_label_selector(text);
}

}  // namespace
}  // namespace millwright::model
