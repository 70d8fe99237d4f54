// Projects and domains, attempts, errors and hostile answers.
#include "cloud/huawei/calls/api.hpp"

#include "unit/cloud/huawei/fakes/fake_keys.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;

class HuaweiApi : public testing::Test {
 protected:
  Api make(std::string project = "p1") {
    return Api({.loop = loop,
                .client = http,
                .endpoints = endpoints,
                .credentials = &keys,
                .project = std::move(project),
                .log = {},
                .seed = 1});
  }
  static Call call(bool repeatable = true) {
    Call result;
    result.operation = "list nodes";
    result.path = "/api/v3/projects/{project}/clusters/c/nodes";
    result.patience.repeatable = repeatable;
    return result;
  }

  base::VirtualLoop loop{kStart};
  FakeHttp http{loop};
  FixedKeys keys;
  Endpoints endpoints = test_endpoints();
};

TEST_F(HuaweiApi, AsksForTheProjectOnceAndSignsItsId) {
  http.handler = [](const net::ClientRequest& request) {
    const bool iam = request.url.starts_with("https://iam.");
    return net::Response::json(200, iam ? R"({"projects":[{"id":"p7"}]})" : R"({"items":[]})");
  };
  auto api = make("");
  ASSERT_TRUE(wait(loop, api.send(call())));
  ASSERT_TRUE(wait(loop, api.send(call())));
  ASSERT_EQ(http.requests.size(), 3U);
  EXPECT_EQ(http.requests[0].url,
            "https://iam.cn-north-4.myhuaweicloud.com/v3/projects?name=cn-north-4");
  EXPECT_EQ(http.requests[0].headers.find("X-Project-Id"), nullptr);
  EXPECT_EQ(http.requests[2].url,
            "https://cce.cn-north-4.myhuaweicloud.com/api/v3/projects/p7/clusters/c/nodes");
  EXPECT_EQ(http.requests[2].headers.get("X-Project-Id"), "p7");
  EXPECT_THAT(std::string(http.requests[2].headers.get("Authorization")),
              HasSubstr("SignedHeaders=content-type;host;x-project-id;x-sdk-date"));
}

TEST_F(HuaweiApi, NamesAProjectThatIsNotTheOnlyOne) {
  for (const std::string body :
       {R"({"projects":[]})", R"({"projects":[{"id":"a"},{"id":"b"}]})", R"({"projects":[{}]})",
        R"({"projects":{"id":"a"}})", R"({"projects":[3]})", "{}"}) {
    http.script({net::Response::json(200, body)});
    auto api = make("");
    const auto answer = wait(loop, api.send(call()));
    ASSERT_FALSE(answer) << body;
    EXPECT_EQ(answer.error().kind, ErrorKind::Invalid);
    EXPECT_THAT(answer.error().message, HasSubstr("iam list projects: expected one entry"));
  }
}

TEST_F(HuaweiApi, AsksAgainAfterThrottlingAndFailures) {
  http.script({refusal(429, "APIGW.0308", "too many"), net::Response::text(502, "<html>"),
               net::Response::json(200, "{}")});
  auto api = make();
  EXPECT_TRUE(wait(loop, api.send(call())));
  EXPECT_EQ(http.requests.size(), 3U);
}

// There is no token that makes a second creation of a node the first one.
TEST_F(HuaweiApi, WhatMayHaveTakenEffectIsNotRepeated) {
  http.script({base::fail(ErrorKind::Timeout, "no answer"), net::Response::json(200, "{}")});
  auto api = make();
  EXPECT_EQ(wait(loop, api.send(call(false))).error().kind, ErrorKind::Timeout);
  EXPECT_EQ(http.requests.size(), 1U);
  EXPECT_TRUE(http.requests.back().fresh_connection);
  http.script({refusal(429, "APIGW.0308", "too many"), net::Response::json(200, "{}")});
  EXPECT_TRUE(wait(loop, api.send(call(false)))) << "it was refused, so nothing happened";
}

TEST_F(HuaweiApi, RefusedKeysAreRenewed) {
  http.script({refusal(401, "APIGW.0301", "Incorrect IAM authentication information"),
               net::Response::json(200, "{}")});
  auto api = make();
  EXPECT_TRUE(wait(loop, api.send(call())));
  EXPECT_EQ(http.requests.back().headers.get("X-Security-Token"), "second");
}

TEST_F(HuaweiApi, AnswersThatAreNoJsonObjectsShowNothingOfThem) {
  for (const std::string body : {"[1]", "3", "<html>secret</html>", R"({"a":)", "\xff"}) {
    http.script({net::Response::text(200, body)});
    auto api = make();
    const auto answer = wait(loop, api.send(call()));
    ASSERT_FALSE(answer) << body;
    EXPECT_EQ(answer.error().kind, ErrorKind::Unavailable);
    EXPECT_THAT(answer.error().message, HasSubstr("cce list nodes: the answer (HTTP 200) is not"));
    EXPECT_THAT(answer.error().message, Not(HasSubstr("secret")));
  }
}

TEST_F(HuaweiApi, AnEmptyAnswerIsNull) {
  http.script({net::Response::text(204, "")});
  auto api = make();
  EXPECT_TRUE(wait(loop, api.send(call()))->is_null());
}

TEST(HuaweiErrors, AreFoundInEverySpelling) {
  for (const std::string body :
       {R"({"error_code":"A.1","error_msg":"no"})", R"({"errorCode":"A.1","errorMsg":"no"})",
        R"({"error":{"code":"A.1","message":"no"}})",
        R"({"x":{"y":{"error_code":"A.1","error_msg":"no"}}})"}) {
    const auto error = read_error("cce create node", net::Response::json(400, body));
    EXPECT_EQ(error.code, "A.1") << body;
    EXPECT_EQ(error.kind, ErrorKind::Invalid);
    EXPECT_EQ(error.message, "cce create node: A.1: no");
  }
  const auto number =
      read_error("iam x", net::Response::json(403, R"({"error":{"code":403,"message":"no"}})"));
  EXPECT_EQ(number.code, "403");
  EXPECT_EQ(number.kind, ErrorKind::Denied);
}

TEST(HuaweiErrors, SayWhatTheyMean) {
  struct Case {
    net::Response response;
    ErrorKind kind;
    std::string hint;
  };
  const std::vector<Case> cases{
      {refusal(400, "CCE_CM.0021", "no"), ErrorKind::NoCapacity, "CCE_CM.0021"},
      {net::Response::text(400, "the flavor is Sold Out"), ErrorKind::NoCapacity, "Sold Out"},
      {refusal(400, "CCE.01400025", "no"), ErrorKind::NoCapacity, ""},
      {refusal(400, "CCE.1", "Eni network is not supported"), ErrorKind::NoCapacity, ""},
      {refusal(400, "CCE.1", "it is sold out"), ErrorKind::Invalid, "another code's words"},
      {refusal(403, "CCE.03403001", "Quota exceeded"), ErrorKind::Denied, "higher quota"},
      {refusal(400, "CBC.1", "the account is in arrears"), ErrorKind::Denied, "bills"},
      {refusal(403, "APIGW.0302", "no"), ErrorKind::Denied, "IAM policy"},
      {refusal(401, "APIGW.0301", "no"), ErrorKind::Denied, "clock"},
      {refusal(404, "CCE.01404001", "no"), ErrorKind::NotFound, ""},
      {refusal(429, "X.1", "no"), ErrorKind::Throttled, ""},
      {net::Response::text(503, std::string(5000, 'x')), ErrorKind::Unavailable, "..."}};
  for (const auto& each : cases) {
    const auto error = read_error("cce x", each.response);
    EXPECT_EQ(error.kind, each.kind) << error.message;
    if (each.kind != ErrorKind::Invalid) {
      EXPECT_THAT(error.message, HasSubstr(each.hint));
    }
    EXPECT_LT(error.message.size(), 400U);
  }
}

TEST(HuaweiErrors, SurviveNestingWithoutEnd) {
  std::string body;
  for (int i = 0; i < 40; ++i) {
    body += R"({"a":)";
  }
  body += R"({"code":"A","message":"b"})" + std::string(40, '}');
  EXPECT_EQ(read_error("cce x", net::Response::json(400, body)).code, "400");
}

TEST(HuaweiEndpoints, AreOverridableOneByOne) {
  FakeMachine machine;
  machine.variables["HUAWEICLOUD_SDK_CCE_ENDPOINT"] = "http://127.0.0.1:8080/";
  machine.variables["HUAWEICLOUD_BSS_ENDPOINT"] = "https://bss.example.com";
  const auto made = Endpoints::make("ap-southeast-3", machine.environment());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->of(Service::Cce), "http://127.0.0.1:8080");
  EXPECT_EQ(made->of(Service::Bss), "https://bss.example.com");
  EXPECT_EQ(made->of(Service::Vpc), "https://vpc.ap-southeast-3.myhuaweicloud.com");
  EXPECT_EQ(test_endpoints().of(Service::Bss), "https://bss.myhuaweicloud.com");
  machine.variables["HUAWEICLOUD_SDK_ECS_ENDPOINT"] = "ecs.example.com";
  const auto wrong = Endpoints::make("ap-southeast-3", machine.environment());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("HUAWEICLOUD_SDK_ECS_ENDPOINT: expected a URL"));
}

}  // namespace
}  // namespace millwright::cloud::huawei
