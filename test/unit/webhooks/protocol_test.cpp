// The AdmissionReview protocol: what is asked, what is answered, what is refused as no question.
#include "reviews.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace millwright::webhooks {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::value base(const std::string& name) {
  return test::admission_bases().at(name);
}

json::value broken_pool() {
  json::value pool = base("nodepool");
  pool.at("spec").as_object()["weight"] = 0;
  return pool;
}

TEST(AdmissionReview, IsAnsweredWithItsUidAndVersion) {
  for (const HttpReply& reply : {blind_admission().mutate(creation(base("nodepool"))),
                                 blind_admission().validate(creation(base("nodepool"))),
                                 blind_admission().validate(creation(broken_pool()))}) {
    EXPECT_EQ(response_of(reply).at("uid").as_string(), "705ab4f5-6393-11e8-b7cc-42010a800002");
  }
}

struct MalformedCase {
  std::string name;
  std::string body;
  std::string says;
};

std::string with_request(const std::function<void(json::object&)>& change) {
  json::object request = request_for("CREATE", base("nodepool"));
  change(request);
  return review_text(request);
}

std::vector<MalformedCase> malformed_cases() {
  const std::string good = creation(base("nodepool"));
  return {
      {"nothing", "", "not JSON"},
      {"text", "hello", "not JSON"},
      {"cut short", good.substr(0, good.size() / 2), "not JSON"},
      {"a list", "[]", "expected a JSON object"},
      {"null", "null", "expected a JSON object"},
      {"an empty object", "{}", "AdmissionReview"},
      {"too many values", with_request([](auto& request) {
         request["object"] = json::array(600'000, json::value(0));
       }),
       "more than 500,000 JSON values"},
      {"too deep", std::string(200, '[') + std::string(200, ']'), "not JSON"},
      {"another kind", R"({"apiVersion":"admission.k8s.io/v1","kind":"Pod","request":{}})",
       "found \"Pod\""},
      {"no version", R"({"kind":"AdmissionReview","request":{}})", "admission.k8s.io/v1"},
      {"an old version",
       R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{}})",
       "admissionReviewVersions"},
      {"no request", R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
       "request: expected an object"},
      {"a request of another type",
       R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":[]})",
       "request: expected an object"},
      {"a reply", R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{}})",
       "request: expected an object"},
      {"no uid", with_request([](auto& request) { request.erase("uid"); }), "request.uid"},
      {"an empty uid", with_request([](auto& request) { request["uid"] = ""; }), "request.uid"},
      {"a uid of another type", with_request([](auto& request) { request["uid"] = 5; }),
       "request.uid"},
      {"no operation", with_request([](auto& request) { request.erase("operation"); }),
       "request.operation"},
      {"an unknown operation", with_request([](auto& request) { request["operation"] = "PATCH"; }),
       "found \"PATCH\""},
      {"no kind", with_request([](auto& request) { request.erase("kind"); }), "request.kind"},
      {"a kind without a version",
       with_request([](auto& request) { request["kind"].as_object().erase("version"); }),
       "request.kind"},
      {"a kind of another type", with_request([](auto& request) { request["kind"] = "NodePool"; }),
       "request.kind"},
      {"no object to create", with_request([](auto& request) { request.erase("object"); }),
       "request.object"},
      {"null to create", with_request([](auto& request) { request["object"] = nullptr; }),
       "request.object"},
      {"a list to create", with_request([](auto& request) { request["object"] = json::array{}; }),
       "request.object"},
      {"an old object of another type",
       with_request([](auto& request) { request["oldObject"] = "x"; }), "request.oldObject"},
      {"a deleted object of another type", with_request([](auto& request) {
         request["operation"] = "DELETE";
         request["object"] = 1;
       }),
       "request.object"},
  };
}

TEST(AdmissionReview, IsRefusedWithAReasonWhenMalformed) {
  for (const MalformedCase& test_case : malformed_cases()) {
    for (const HttpReply& reply :
         {blind_admission().mutate(test_case.body), blind_admission().validate(test_case.body)}) {
      EXPECT_EQ(reply.status, 400) << test_case.name;
      const json::value status = json::parse(reply.body);
      EXPECT_EQ(status.at("kind").as_string(), "Status") << test_case.name;
      EXPECT_EQ(status.at("reason").as_string(), "BadRequest") << test_case.name;
      EXPECT_EQ(status.at("code").as_int64(), 400) << test_case.name;
      EXPECT_THAT(json::value_to<std::string>(status.at("message")), HasSubstr(test_case.says))
          << test_case.name;
    }
  }
}

TEST(AdmissionReview, SurvivesBeingCutAnywhere) {
  const std::string good = creation(base("nodepool"));
  for (std::size_t length = 0; length < good.size(); length += 7) {
    EXPECT_EQ(blind_admission().validate(good.substr(0, length)).status, 400) << length;
  }
}

TEST(AdmissionReview, IsRefusedInFewWordsWhateverIsWrong) {
  json::value pool = base("nodepool");
  pool.at_pointer("/spec/template/spec").as_object()["requirements"] =
      json::array(100'000, json::value(json::object()));
  const HttpReply reply = blind_admission().validate(creation(pool));
  EXPECT_LT(reply.body.size(), 100'000U);
  EXPECT_THAT(reply.body, HasSubstr("there may be more"));
}

TEST(AdmissionReview, LetsPassWhatIsNotItsConcern) {
  json::object deletion = request_for("DELETE", nullptr, broken_pool());
  json::object connection = request_for("CONNECT", broken_pool());
  json::object status = request_for("UPDATE", broken_pool(), base("nodepool"));
  status["subResource"] = "status";
  json::object scale = request_for("UPDATE", broken_pool(), base("nodepool"));
  scale["subResource"] = "scale";
  json::value leaving = broken_pool();
  leaving.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  const json::object finalized = request_for("UPDATE", leaving, base("nodepool"));
  const json::object stranger = request_for(
      "CREATE", {{"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"spec", {{"weight", 0}}}});
  const json::object pod = request_for("CREATE", {{"apiVersion", "/v1"}, {"kind", "Pod"}});
  for (const json::object& request :
       {deletion, connection, status, scale, finalized, stranger, pod}) {
    for (const HttpReply& reply : {blind_admission().mutate(review_text(request)),
                                   blind_admission().validate(review_text(request))}) {
      const json::object response = response_of(reply);
      EXPECT_TRUE(response.at("allowed").as_bool()) << json::serialize(request);
      EXPECT_FALSE(response.contains("patch"));
      EXPECT_FALSE(response.contains("warnings"));
    }
  }
}

TEST(AdmissionReview, JudgesDryRunsLikeAnyOther) {
  json::object request = request_for("CREATE", broken_pool());
  request["dryRun"] = true;
  EXPECT_EQ(blind_admission().validate(review_text(request)).body,
            blind_admission().validate(creation(broken_pool())).body);
}

TEST(AdmissionReview, WorksWithoutAnyWorld) {
  const Admission admission{ClusterSnapshotSource()};
  EXPECT_TRUE(response_of(admission.validate(creation(base("nodepool")))).at("allowed").as_bool());
  EXPECT_THAT(warnings_of(admission.validate(creation(base("nodepool")))), IsEmpty());
}

}  // namespace
}  // namespace millwright::webhooks
