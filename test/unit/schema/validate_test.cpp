// How validation reports, whatever the kind.
#include "admission_cases.hpp"
#include "millwright/schema/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::schema {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

json::value base(const std::string& name) {
  return test::admission_bases().at(name);
}

const Kind& kind_of(const json::value& object) {
  return *find_kind(test::text_or(object.as_object(), "apiVersion"),
                    test::text_or(object.as_object(), "kind"));
}

std::vector<Problem> problems_of(const json::value& object, const json::value* old = nullptr) {
  return validate(kind_of(object), object, old);
}

TEST(Problem, ReadsAsTheApiServerWordsIt) {
  EXPECT_EQ((Problem{"spec.weight", "0", "expected 1 to 100"}).to_string(),
            "spec.weight: Invalid value: 0: expected 1 to 100");
  EXPECT_EQ((Problem{"spec.template", "", "expected an object"}).to_string(),
            "spec.template: Required value: expected an object");
}

TEST(Validate, ReportsEveryProblemInFieldOrder) {
  json::value pool = base("nodepool");
  pool.at_pointer("/spec").as_object()["weight"] = 0;
  pool.at_pointer("/spec/disruption").as_object()["consolidateAfter"] = "soon";
  pool.at_pointer("/spec/template/spec").as_object()["expireAfter"] = "later";
  std::vector<std::string> paths;
  for (const Problem& problem : problems_of(pool)) {
    paths.push_back(problem.path);
  }
  EXPECT_THAT(paths, ElementsAre("spec.template.spec.expireAfter",
                                 "spec.disruption.consolidateAfter", "spec.weight"));
}

TEST(Validate, ReportsOneProblemPerFieldWhenTheCrdAndRunTimeAgree) {
  json::value pool = base("nodepool");
  pool.at_pointer("/spec/template/spec/requirements/0").as_object()["values"] = json::array{};
  EXPECT_THAT(problems_of(pool), SizeIs(1));
}

TEST(Validate, TakesAbsentFieldsWithADefaultAsGiven) {
  json::value pool = base("nodepool");
  pool.at_pointer("/spec/disruption").as_object()["budgets"] = json::array{json::object{}};
  EXPECT_THAT(problems_of(pool), IsEmpty());
}

TEST(Validate, ShortensLongValuesAtACharacter) {
  json::value pool = base("nodepool");
  std::string long_text;
  for (int i = 0; i < 200; ++i) {
    long_text += "ä";
  }
  pool.at_pointer("/spec/template/spec").as_object()["expireAfter"] = long_text;
  const auto problems = problems_of(pool);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_LT(problems[0].value.size(), 130U);
  EXPECT_TRUE(problems[0].value.ends_with("ä..."));
}

TEST(Validate, NeverShowsAPassword) {
  json::value cce = base("cce");
  cce.at_pointer("/spec/login").as_object()["userPassword"] = {{"password", "top-secret"}};
  json::value ecs = base("ecs");
  ecs.at_pointer("/spec").as_object()["password"] = "top secret";
  ecs.at_pointer("/spec").as_object()["spotPriceLimit"] = "1";
  for (const json::value& object : {cce, ecs}) {
    const auto problems = problems_of(object);
    ASSERT_THAT(problems, Not(IsEmpty()));
    EXPECT_THAT(problems[0].value, HasSubstr("***"));
    for (const Problem& problem : problems) {
      EXPECT_THAT(problem.to_string(), Not(HasSubstr("top")));
    }
  }
}

TEST(Validate, LeavesUnchangedPartsOfAnUpdateAlone) {
  json::value old = base("nodepool");
  old.at_pointer("/spec/disruption").as_object()["budgets"] = json::array{{{"nodes", "most"}}};
  json::value updated = old;
  updated.as_object()["metadata"].as_object()["labels"] = {{"a", "b"}};
  EXPECT_THAT(problems_of(updated, &old), IsEmpty());
  EXPECT_THAT(problems_of(updated), SizeIs(1)) << "a new object has no such excuse";

  updated.at_pointer("/spec/disruption/budgets/0").as_object()["nodes"] = "all";
  EXPECT_THAT(problems_of(updated, &old), SizeIs(1)) << "a changed part has none either";
}

TEST(Validate, ChecksTransitionsOnlyOnUpdates) {
  const json::value old = base("nodeclaim");
  json::value updated = old;
  updated.at_pointer("/spec").as_object()["expireAfter"] = "1h";
  EXPECT_THAT(problems_of(updated), IsEmpty());
  const auto problems = problems_of(updated, &old);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].path, "spec");
}

// An object of a few MiB can break hundreds of thousands of rules.
TEST(Validate, TellsAHundredProblemsEachWithAShortValue) {
  json::value pool = base("nodepool");
  json::array wrong_by_crd;
  json::array wrong_at_run_time;
  const std::string long_value(1000, '!');
  for (int i = 0; i < 1000; ++i) {
    wrong_by_crd.push_back({{"key", i}, {"operator", "In"}, {"values", json::array{long_value}}});
    wrong_at_run_time.push_back(
        {{"key", "example.com/a"}, {"operator", "In"}, {"values", json::array{long_value}}});
  }
  for (const json::array& requirements : {wrong_by_crd, wrong_at_run_time}) {
    pool.at_pointer("/spec/template/spec").as_object()["requirements"] = requirements;
    const auto problems = problems_of(pool);
    EXPECT_THAT(problems, SizeIs(kMostProblems));
    for (const Problem& problem : problems) {
      EXPECT_LE(problem.value.size(), 123U);
    }
    EXPECT_THAT(problems_of(pool, &pool), IsEmpty()) << "what an update leaves as it was passes";
  }
}

// To compare each of a hundred thousand items with all others takes minutes.
TEST(Validate, LooksForRepeatedItemsInListsOfSensibleLength) {
  json::value pool = base("nodepool");
  json::array conditions;
  const auto add = [&conditions](const std::string& type) {
    conditions.push_back({{"type", type},
                          {"status", "True"},
                          {"reason", "A"},
                          {"message", ""},
                          {"lastTransitionTime", "2026-01-01T00:00:00Z"}});
  };
  for (int i = 0; i < 999; ++i) {
    add("T" + std::to_string(i));
  }
  add("T0");
  pool.as_object()["status"] = json::object{{"conditions", conditions}};
  const auto problems = problems_of(pool);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].path, "status.conditions[999]");
  add("T1");
  pool.at("status").as_object()["conditions"] = conditions;
  EXPECT_THAT(problems_of(pool), IsEmpty());
}

TEST(Validate, SurvivesAnyShape) {
  const json::value shapes[] = {nullptr,
                                true,
                                1,
                                -1.5,
                                "text",
                                json::array{nullptr},
                                json::object{{"a", nullptr}},
                                json::array{json::array{}}};
  for (const Kind* kind : all_kinds()) {
    for (const json::value& shape : shapes) {
      EXPECT_TRUE(shape.is_object() || !validate(*kind, shape).empty())
          << resource_of(*kind).kind << " " << json::serialize(shape);
      for (const json::value& inner : shapes) {
        json::value object{{"spec", inner}, {"status", shape}};
        prune(*kind, object);
        apply_defaults(*kind, object);
        EXPECT_GE(validate(*kind, object).size(), validate_structure(*kind, object).size());
      }
    }
  }
}

}  // namespace
}  // namespace millwright::schema
