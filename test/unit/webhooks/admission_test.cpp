// Defaulting and validation through the protocol, on every object of test/data/admission.
#include "reviews.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::webhooks {
namespace {

using test::AdmissionCase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string text_of(const AdmissionCase& test_case) {
  return test_case.old ? update(test_case.object, *test_case.old) : creation(test_case.object);
}

// The object as the API server would store it after the mutating webhook.
json::value mutated(const AdmissionCase& test_case) {
  json::value object = test_case.object;
  const json::value patch = patch_of(response_of(blind_admission().mutate(text_of(test_case))));
  const auto done = model::apply_json_patch(object, patch);
  if (!done) {
    throw std::runtime_error(test_case.name + ": " + done.error().message);
  }
  return object;
}

TEST(Mutate, ReachesAFixedPointInOneStep) {
  for (AdmissionCase test_case : test::admission_cases("valid.yaml")) {
    test_case.object = mutated(test_case);
    const json::object second = response_of(blind_admission().mutate(text_of(test_case)));
    EXPECT_FALSE(second.contains("patch")) << test_case.name;
    EXPECT_FALSE(second.contains("patchType")) << test_case.name;
  }
}

TEST(Mutate, NeverRefusesAndKeepsPatchesAndTypesTogether) {
  for (const AdmissionCase& test_case : test::invalid_admission_cases()) {
    const json::object response = response_of(blind_admission().mutate(text_of(test_case)));
    EXPECT_TRUE(response.at("allowed").as_bool()) << test_case.name;
    EXPECT_EQ(response.contains("patch"), response.contains("patchType")) << test_case.name;
  }
}

TEST(Mutate, AddsOnlyWhatIsAbsent) {
  json::value pool = test::admission_bases().at("nodepool");
  pool.at("spec").as_object().erase("disruption");
  pool.at_pointer("/spec/template/spec").as_object()["expireAfter"] = "1h";
  const json::object response = response_of(blind_admission().mutate(creation(pool)));
  EXPECT_EQ(response.at("patchType").as_string(), "JSONPatch");
  EXPECT_EQ(patch_of(response), (json::array{{{"op", "add"},
                                              {"path", "/spec/disruption"},
                                              {"value",
                                               {{"consolidateAfter", "0s"},
                                                {"consolidationPolicy", "WhenEmptyOrUnderutilized"},
                                                {"budgets", json::array{{{"nodes", "10%"}}}}}}}}));
}

TEST(Validate, AllowsEveryValidObject) {
  for (const AdmissionCase& test_case : test::admission_cases("valid.yaml")) {
    const json::object response = response_of(blind_admission().validate(text_of(test_case)));
    EXPECT_TRUE(response.at("allowed").as_bool())
        << test_case.name << ": " << json::serialize(response);
  }
}

TEST(Validate, RefusesEveryInvalidObjectWithAllItsPathsInOneMessage) {
  for (const AdmissionCase& test_case : test::invalid_admission_cases()) {
    const json::object response = response_of(blind_admission().validate(text_of(test_case)));
    ASSERT_FALSE(response.at("allowed").as_bool()) << test_case.name;
    const json::object& status = response.at("status").as_object();
    EXPECT_EQ(status.at("code").as_int64(), 422) << test_case.name;
    EXPECT_EQ(status.at("reason").as_string(), "Invalid") << test_case.name;
    const std::string message = test::text_or(status, "message");
    EXPECT_THAT(message, HasSubstr(test_case.says)) << test_case.name;
    std::vector<std::string> fields;
    for (const json::value& cause : status.at("details").at("causes").as_array()) {
      fields.push_back(test::text_or(cause.as_object(), "field"));
      // As kubectl prints a cause: the field once, then what is wrong with it.
      EXPECT_THAT(message, HasSubstr(test::text_or(cause.as_object(), "field") + ": " +
                                     test::text_or(cause.as_object(), "message")));
    }
    std::sort(fields.begin(), fields.end());
    EXPECT_EQ(fields, test_case.paths) << test_case.name;
  }
}

TEST(Validate, PutsEachProblemOnALineOfItsOwn) {
  json::value pool = test::admission_bases().at("nodepool");
  pool.at("spec").as_object()["weight"] = 0;
  EXPECT_EQ(test::text_or(
                response_of(blind_admission().validate(creation(pool))).at("status").as_object(),
                "message"),
            "NodePool \"default\" is invalid: spec.weight: Invalid value: 0: expected a whole "
            "number, 1 to 100");
  pool.at("spec").as_object().erase("template");
  EXPECT_EQ(test::text_or(
                response_of(blind_admission().validate(creation(pool))).at("status").as_object(),
                "message"),
            "NodePool \"default\" is invalid:\n"
            "  - spec.template: Required value: expected an object\n"
            "  - spec.weight: Invalid value: 0: expected a whole number, 1 to 100");
}

TEST(Validate, NamesAnObjectThatIsStillToGetItsName) {
  json::value claim = test::admission_bases().at("nodeclaim");
  claim.at("metadata") = {{"generateName", "default-"}};
  claim.at("spec").as_object()["expireAfter"] = "soon";
  EXPECT_THAT(test::text_or(
                  response_of(blind_admission().validate(creation(claim))).at("status").as_object(),
                  "message"),
              HasSubstr("NodeClaim \"default-\" is invalid"));
}

TEST(Validate, LetsOldMistakesStandButNoNewOnes) {
  json::value old = test::admission_bases().at("nodepool");
  old.at_pointer("/spec/template/spec/requirements/0").as_object()["values"] = {"preemptible"};
  json::value labelled = old;
  labelled.at("metadata").as_object()["annotations"] = {{"a", "b"}};
  EXPECT_TRUE(
      response_of(blind_admission().validate(update(labelled, old))).at("allowed").as_bool());
  EXPECT_FALSE(response_of(blind_admission().validate(creation(labelled))).at("allowed").as_bool());
}

}  // namespace
}  // namespace millwright::webhooks
