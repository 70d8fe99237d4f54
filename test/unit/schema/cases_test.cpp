// Every rule of every kind, by objects that break it and objects that just keep it. The verdicts of
// validate_structure on these objects are those of a real API server with the generated CRDs.
#include "admission_cases.hpp"
#include "millwright/schema/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace millwright::schema {
namespace {

using test::AdmissionCase;

// What reaches validation: pruned and defaulted, as an API server hands it on.
struct Prepared {
  const Kind* kind = nullptr;
  json::value object;
  std::optional<json::value> old;

  const json::value* old_or_null() const { return old ? &*old : nullptr; }
};

Prepared prepare(const AdmissionCase& test_case) {
  Prepared result;
  result.object = test_case.object;
  result.old = test_case.old;
  result.kind = find_kind(test::text_or(result.object.as_object(), "apiVersion"),
                          test::text_or(result.object.as_object(), "kind"));
  if (result.kind == nullptr) {
    throw std::runtime_error(test_case.name + ": unknown kind");
  }
  prune(*result.kind, result.object);
  apply_defaults(*result.kind, result.object);
  if (result.old) {
    apply_defaults(*result.kind, *result.old);
  }
  return result;
}

std::string in_words(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    text += "  " + problem.to_string() + "\n";
  }
  return text.empty() ? "  no problem\n" : text;
}

class InvalidObject : public testing::TestWithParam<AdmissionCase> {};

TEST_P(InvalidObject, IsRefusedWithItsPathAndWhatWouldBeAccepted) {
  const Prepared prepared = prepare(GetParam());
  const auto problems = validate(*prepared.kind, prepared.object, prepared.old_or_null());
  std::vector<std::string> paths;
  bool said = GetParam().says.empty();
  for (const Problem& problem : problems) {
    paths.push_back(problem.path);
    said = said || problem.message.find(GetParam().says) != std::string::npos;
    EXPECT_FALSE(problem.message.empty()) << problem.path;
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_EQ(paths, GetParam().paths) << in_words(problems);
  EXPECT_TRUE(said) << "expected \"" << GetParam().says << "\" in\n" << in_words(problems);
}

TEST_P(InvalidObject, IsRefusedByTheCrdItselfUnlessTheRuleIsForRunTime) {
  const Prepared prepared = prepare(GetParam());
  const auto problems = validate_structure(*prepared.kind, prepared.object, prepared.old_or_null());
  EXPECT_EQ(!problems.empty(), GetParam().by_crd) << in_words(problems);
}

std::string test_name(const testing::TestParamInfo<AdmissionCase>& info) {
  std::string name = std::to_string(info.index) + "_";
  for (const char c : info.param.name) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Admission, InvalidObject,
                         testing::ValuesIn(test::invalid_admission_cases()), test_name);

class ValidObject : public testing::TestWithParam<AdmissionCase> {};

TEST_P(ValidObject, IsAcceptedAndLosesNoField) {
  Prepared prepared = prepare(GetParam());
  EXPECT_EQ(in_words(validate(*prepared.kind, prepared.object, prepared.old_or_null())),
            "  no problem\n");
  json::value pruned = GetParam().object;
  EXPECT_THAT(prune(*prepared.kind, pruned), testing::IsEmpty());
  EXPECT_EQ(pruned, GetParam().object);
}

INSTANTIATE_TEST_SUITE_P(Admission, ValidObject,
                         testing::ValuesIn(test::admission_cases("valid.yaml")), test_name);

TEST(AdmissionCases, AreManyAndCoverEveryKind) {
  EXPECT_GE(test::invalid_admission_cases().size(), 120U);
  EXPECT_GE(test::admission_cases("valid.yaml").size(), 60U);
  std::set<const Kind*> seen;
  for (const AdmissionCase& test_case : test::admission_cases("valid.yaml")) {
    seen.insert(prepare(test_case).kind);
  }
  EXPECT_EQ(seen.size(), all_kinds().size());
}

}  // namespace
}  // namespace millwright::schema
