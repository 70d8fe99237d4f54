// Annotations of NodePools about disruption: what is refused, and what is warned of.
#include "small_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::webhooks {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::value with_annotations(const json::object& annotations) {
  json::value pool = base_pool();
  pool.at("metadata").as_object()["annotations"] = annotations;
  return pool;
}

// The message of a refusal; empty when the object is allowed.
std::string refusal_of(const HttpReply& reply) {
  const json::object response = response_of(reply);
  return response.at("allowed").as_bool()
             ? ""
             : json::value_to<std::string>(response.at("status").at("message"));
}

struct AnnotationCase {
  std::string key;
  std::string value;
  std::vector<std::string> says;  // parts of the refusal; empty: allowed
};

TEST(PoolAnnotations, AreRefusedWhenTheyCannotBeRead) {
  const std::vector<AnnotationCase> cases{
      {"millwright.io/disruption-windows", "0 22 * * mon-fri for 8h in Europe/Berlin", {}},
      {"millwright.io/disruption-windows",
       "0 22 * * mon-fri for 8h in Europe/Bonn",
       {"metadata.annotations[millwright.io/disruption-windows]: Invalid value: \"0 22",
        "\"Europe/Bonn\" is no time zone"}},
      {"millwright.io/disruption-windows", "0 25 * * * for 8h", {"hour \"25\""}},
      {"millwright.io/disruption-windows", "", {"there is none"}},
      {"millwright.io/disruption-windows", std::string(100'000, 'x'), {"longer than 4096 bytes"}},
      {"millwright.io/expiration-windows", "0 2 * * sun for 4h in Asia/Shanghai", {}},
      {"millwright.io/expiration-windows",
       "Drifted: 0 2 * * sun for 4h",
       {"metadata.annotations[millwright.io/expiration-windows]", "write it without them"}},
      {"millwright.io/consolidation-min-node-age", "1h30m", {}},
      {"millwright.io/consolidation-min-node-age",
       "1d",
       {"metadata.annotations[millwright.io/consolidation-min-node-age]: Invalid value: \"1d\"",
        "is not a duration"}},
      {"millwright.io/consolidation-min-pod-age", "-5m", {"an age is not negative"}},
      {"millwright.io/consolidation-min-savings", "10%, $0.05", {}},
      {"millwright.io/consolidation-min-savings", "10", {"\"10\" is no saving", "$0.05"}},
      {"millwright.io/consolidation-max-utilization", "70%", {}},
      {"millwright.io/consolidation-max-utilization", "0.7", {"\"0.7\" is no part of a node"}},
      {"millwright.io/max-price-ratio", "2.5", {}},
      {"millwright.io/max-price-ratio", "0", {}},
      {"millwright.io/max-price-ratio", "0.5", {"\"0.5\" is no ratio of prices"}},
      {"example.com/disruption-windows", "whatever", {}},
  };
  for (const AnnotationCase& test_case : cases) {
    const json::value pool = with_annotations({{test_case.key, test_case.value}});
    const std::string refusal = refusal_of(blind_admission().validate(creation(pool)));
    EXPECT_EQ(refusal.empty(), test_case.says.empty()) << test_case.value << ": " << refusal;
    for (const std::string& part : test_case.says) {
      EXPECT_THAT(refusal, HasSubstr(part)) << test_case.value;
    }
    EXPECT_LT(refusal.size(), 1000U);
  }
}

// A pool that was written while the webhook was away must still take its status, its hash and its
// finalizers; what is wrong in it holds its nodes back meanwhile.
TEST(PoolAnnotations, AreRefusedOnlyWhenTheyAreWritten) {
  const json::value bad = with_annotations({{"millwright.io/disruption-windows", "at night"}});
  json::value touched = bad;
  touched.at_pointer("/metadata/annotations").as_object()["karpenter.sh/nodepool-hash"] = "1";
  EXPECT_EQ(refusal_of(blind_admission().validate(update(touched, bad))), "");
  const json::value mended =
      with_annotations({{"millwright.io/disruption-windows", "@daily for 1h"}});
  EXPECT_EQ(refusal_of(blind_admission().validate(update(mended, bad))), "");
  EXPECT_NE(refusal_of(blind_admission().validate(update(bad, mended))), "");
}

TEST(PoolAnnotations, AreRefusedTogetherWithWhatElseIsWrong) {
  json::value pool = with_annotations({{"millwright.io/disruption-windows", "at night"}});
  pool.at("spec").as_object()["weight"] = 0;
  EXPECT_THAT(refusal_of(blind_admission().validate(creation(pool))),
              AllOf(HasSubstr("spec.weight"), HasSubstr("metadata.annotations[")));
}

TEST(PoolAnnotations, OfOtherKindsAreNotLookedAt) {
  json::value node_class = test::admission_bases().at("ecs");
  node_class.at("metadata").as_object()["annotations"] = {
      {"millwright.io/disruption-windows", "at night"}};
  EXPECT_EQ(refusal_of(blind_admission().validate(creation(node_class))), "");
}

TEST(PoolAnnotations, AMistypedKeyIsWarnedOf) {
  EXPECT_THAT(warnings_for(with_annotations({{"millwright.io/disruption-window", "@daily for 1h"}}),
                           small_cluster()),
              ElementsAre(AllOf(HasSubstr("metadata.annotations[millwright.io/disruption-window]"),
                                HasSubstr("did you mean millwright.io/disruption-windows?"))));
  EXPECT_THAT(warnings_for(with_annotations({{"millwright.io/owned-by", "us"},
                                             {"example.com/disruption-window", "x"}}),
                           small_cluster()),
              IsEmpty());
}

TEST(PoolAnnotations, AWindowThatNeverOpensIsWarnedOf) {
  EXPECT_THAT(warnings_for(with_annotations({{"millwright.io/disruption-windows",
                                              "Drifted: 0 0 30 2 * for 1h; Empty: @daily for 1h"}}),
                           small_cluster()),
              ElementsAre(AllOf(HasSubstr("no window ever opens"), HasSubstr("as Drifted"))));
}

TEST(PoolAnnotations, ExpirationWindowsAreWarnedOfWhereNodesGoBeforeTheyOpen) {
  const struct {
    std::string windows;
    bool warned;
  } cases[] = {
      {"0 2 * * sun for 4h in Europe/Berlin", false},
      {"@weekly for 1m in America/New_York", false},
      {"* * * * * for 10m", false},
      {"0 2 1 * * for 4h", true},
      {"0 2 * 1-11 * for 4h", true},
      {"0 0 30 2 * for 1h", true},
  };
  for (const auto& test_case : cases) {
    const auto warnings =
        warnings_for(with_annotations({{"millwright.io/expiration-windows", test_case.windows}}),
                     small_cluster());
    EXPECT_THAT(warnings, ::testing::SizeIs(test_case.warned ? 1 : 0)) << test_case.windows;
    for (const auto& warning : warnings) {
      EXPECT_THAT(warning, AllOf(HasSubstr("millwright.io/expiration-windows"),
                                 HasSubstr("more than 8 days")));
    }
  }
}

TEST(PoolAnnotations, AreWarnedOfWhenTheyAreWritten) {
  const json::value before = base_pool();
  const json::value after =
      with_annotations({{"millwright.io/disruption-windows", "0 0 30 2 * for 1h"}});
  EXPECT_THAT(warnings_of(blind_admission().validate(update(after, before))),
              ElementsAre(HasSubstr("as Empty, Drifted, Underutilized")));
  json::value touched = after;
  touched.at_pointer("/metadata/annotations").as_object()["karpenter.sh/nodepool-hash"] = "1";
  EXPECT_THAT(warnings_of(blind_admission().validate(update(touched, after))), IsEmpty());
}

}  // namespace
}  // namespace millwright::webhooks
