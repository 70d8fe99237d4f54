#include "cloud/alibaba/calls/api.hpp"

#include "unit/cloud/alibaba/fakes/fake_answers.hpp"

#include <boost/json/serialize.hpp>

#include <set>

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class AlibabaApiTest : public testing::Test {
 protected:
  AlibabaApiTest()
      : loop(kStart),
        http(loop),
        endpoints(Endpoints::make("cn-hangzhou", machine.environment()).value()) {}

  ApiParts parts() {
    return {.loop = loop,
            .client = http,
            .endpoints = endpoints,
            .credentials = credentials,
            .log = {},
            .seed = 1};
  }
  ApiResult<boost::json::value> ask() {
    Api api(parts());
    return wait(loop, api.rpc(Service::Ecs, "DescribeInstances", Parameters().set("A", "b c")));
  }
  std::set<std::string> nonces() const {
    std::set<std::string> result;
    for (const auto& request : http.requests) {
      result.emplace(request.headers.get("x-acs-signature-nonce"));
    }
    return result;
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  Endpoints endpoints;
  FixedCredentials credentials;
};

TEST_F(AlibabaApiTest, AnRpcCallIsSignedWithItsParametersInTheQuery) {
  http.script({net::Response::json(200, R"({"RequestId":"r"})")});
  ASSERT_TRUE(ask());
  ASSERT_EQ(http.requests.size(), 1U);
  const auto& request = http.requests[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "https://ecs.cn-hangzhou.aliyuncs.com/?A=b%20c&RegionId=cn-hangzhou");
  EXPECT_EQ(request.headers.get("x-acs-action"), "DescribeInstances");
  EXPECT_EQ(request.headers.get("x-acs-version"), "2014-05-26");
  EXPECT_EQ(request.headers.get("x-acs-date"), "2026-01-02T00:00:00Z");
  auto unsigned_request = request;
  unsigned_request.headers = {};
  for (const auto& [name, value] : request.headers) {
    if (name != "Authorization") {
      unsigned_request.headers.set(name, value);
    }
  }
  EXPECT_EQ(request.headers.get("Authorization"),
            acs3_signature_of(unsigned_request, first_keys()).authorization);
}

TEST_F(AlibabaApiTest, TheOlderSignatureIsMadeWhereAPrivateCloudNeedsIt) {
  auto older = parts();
  older.rpc_v1 = true;
  Api api(std::move(older));
  http.script({net::Response::json(200, "{}")});
  ASSERT_TRUE(wait(loop, api.rpc(Service::Ecs, "DescribeInstances", {})));
  EXPECT_EQ(http.requests[0].headers.find("Authorization"), nullptr);
  EXPECT_THAT(http.requests[0].url, HasSubstr("Action=DescribeInstances"));
  EXPECT_THAT(http.requests[0].url, HasSubstr("&Signature="));
  EXPECT_THAT(http.requests[0].url, HasSubstr("&SignatureVersion=1.0"));
}

TEST_F(AlibabaApiTest, ARoaCallHasAPathAndABodyThatIsSigned) {
  http.script({net::Response::json(200, R"("#!/bin/sh")")});
  Api api(parts());
  RoaCall call;
  call.action = "DescribeClusterAttachScripts";
  call.method = "POST";
  call.path = "/clusters/c1/attachscript";
  call.body = R"({"keep_instance_name":true})";
  const auto answer = wait(loop, api.roa(Service::Cs, call));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->as_string(), "#!/bin/sh");
  const auto& request = http.requests[0];
  EXPECT_EQ(request.url, "https://cs.cn-hangzhou.aliyuncs.com/clusters/c1/attachscript");
  EXPECT_EQ(request.headers.get("Content-Type"), "application/json; charset=utf-8");
  EXPECT_THAT(std::string(request.headers.get("Authorization")),
              HasSubstr("SignedHeaders=accept;content-type;host;x-acs-action"));
}

TEST_F(AlibabaApiTest, AThrottledCallIsRepeatedLaterWithANonceOfItsOwn) {
  http.script({rpc_error("Throttling.User", 400), rpc_error("ServiceUnavailable", 503),
               net::Response::json(200, "{}")});
  EXPECT_TRUE(ask());
  ASSERT_EQ(http.requests.size(), 3U);
  EXPECT_GE(http.times[1] - http.times[0], 500ms);
  EXPECT_EQ(nonces().size(), 3U);
}

TEST_F(AlibabaApiTest, APatientCallGivesUpAfterItsAttempts) {
  http.script({rpc_error("ServiceUnavailable", 503)});
  const auto answer = ask();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::Unavailable);
  EXPECT_EQ(http.requests.size(), 3U);
}

TEST_F(AlibabaApiTest, AWrongRequestIsNotRepeated) {
  http.script({rpc_error("InvalidParameter", 400)});
  EXPECT_EQ(ask().error().kind, ErrorKind::Invalid);
  EXPECT_EQ(http.requests.size(), 1U);
}

TEST_F(AlibabaApiTest, RefusedKeysAreRenewed) {
  http.script({rpc_error("InvalidSecurityToken.Expired", 400), net::Response::json(200, "{}")});
  EXPECT_TRUE(ask());
  EXPECT_TRUE(credentials.renewed);
  EXPECT_EQ(http.requests[1].headers.get("x-acs-security-token"), "second");
}

TEST_F(AlibabaApiTest, AnAnswerThatIsNoJsonObjectIsAnErrorThatShowsNothingOfIt) {
  for (const std::string body : {"<html>secret</html>", "", "{\"a\":", "[1]", "7"}) {
    http.script({net::Response::text(200, body)});
    const auto answer = ask();
    ASSERT_FALSE(answer) << body;
    EXPECT_EQ(answer.error().kind, ErrorKind::Unavailable);
    EXPECT_THAT(answer.error().message, Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace millwright::cloud::alibaba
