#include "cloud/alibaba/keys/credentials.hpp"

#include "unit/cloud/alibaba/fakes/fake_answers.hpp"

namespace millwright::cloud::alibaba {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr std::string_view kMetadataRole =
    "http://100.100.100.200/latest/meta-data/ram/security-credentials/";

std::string keys_json(const std::string& key, base::TimePoint expires) {
  return R"({"Code":"Success","AccessKeyId":")" + key +
         R"(","AccessKeySecret":"shh","SecurityToken":"tok","Expiration":")" +
         base::format_rfc3339(expires) + "\"}";
}

class AlibabaCredentialsTest : public testing::Test {
 protected:
  AlibabaCredentialsTest() : loop(kStart), http(loop) {
    machine.variables = {{"HOME", "/h"}};
    http.handler = [](const net::ClientRequest& request) -> base::Result<net::Response> {
      return base::fail(ErrorKind::Unavailable, "nothing answers at " + request.url);
    };
  }
  CredentialParts parts() {
    return {.loop = loop,
            .client = http,
            .environment = machine.environment(),
            .sts_url = "https://sts.cn-hangzhou.aliyuncs.com",
            .log = {}};
  }
  std::string found_key() {
    CredentialChain chain(parts());
    const auto found = wait(loop, chain.get());
    return found ? found->access_key_id : found.error().message;
  }
  void use_oidc() {
    machine.variables["ALIBABA_CLOUD_ROLE_ARN"] = "acs:ram::1:role/millwright";
    machine.variables["ALIBABA_CLOUD_OIDC_PROVIDER_ARN"] = "acs:ram::1:oidc-provider/ack";
    machine.variables["ALIBABA_CLOUD_OIDC_TOKEN_FILE"] = "/token";
    machine.files["/token"] = "jwt.a.b\n";
  }
  void use_config(const std::string& profile) {
    machine.files["/h/.aliyun/config.json"] =
        R"({"current":"main","profiles":[{"name":"other"},)" + profile + "]}";
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
};

TEST_F(AlibabaCredentialsTest, TheEnvironmentComesFirst) {
  use_oidc();
  machine.variables["ALIBABA_CLOUD_ACCESS_KEY_ID"] = "ENV";
  machine.variables["ALIBABA_CLOUD_ACCESS_KEY_SECRET"] = "s";
  machine.variables["ALIBABA_CLOUD_SECURITY_TOKEN"] = "t";
  CredentialChain chain(parts());
  const auto found = wait(loop, chain.get());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->access_key_id, "ENV");
  EXPECT_EQ(found->session_token, "t");
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(AlibabaCredentialsTest, HalfAKeyInTheEnvironmentIsAnError) {
  machine.variables["ALIBABA_CLOUD_ACCESS_KEY_SECRET"] = "s";
  EXPECT_THAT(found_key(), HasSubstr("only one of ALIBABA_CLOUD_ACCESS_KEY_ID"));
}

TEST_F(AlibabaCredentialsTest, OidcAssumesTheRoleWithoutASignature) {
  use_oidc();
  http.script({net::Response::json(
      200, R"({"RequestId":"r","Credentials":)" + keys_json("RRSA", kStart + 1h) + "}")});
  EXPECT_EQ(found_key(), "RRSA");
  ASSERT_EQ(http.requests.size(), 1U);
  const auto& request = http.requests[0];
  EXPECT_EQ(request.url,
            "https://sts.cn-hangzhou.aliyuncs.com/"
            "?Action=AssumeRoleWithOIDC&Format=JSON&Version=2015-04-01");
  EXPECT_EQ(request.headers.find("Authorization"), nullptr);
  EXPECT_EQ(request.body,
            "DurationSeconds=3600&OIDCProviderArn=acs%3Aram%3A%3A1%3Aoidc-provider%2Fack&"
            "OIDCToken=jwt.a.b&RoleArn=acs%3Aram%3A%3A1%3Arole%2Fmillwright&"
            "RoleSessionName=millwright");
}

TEST_F(AlibabaCredentialsTest, AFailingOidcIsNotReplacedBySomethingElse) {
  use_oidc();
  use_config(R"({"name":"main","mode":"AK","access_key_id":"F","access_key_secret":"s"})");
  http.script({rpc_error("AuthenticationFail.OIDCToken.Invalid", 400)});
  EXPECT_THAT(found_key(), HasSubstr("AuthenticationFail.OIDCToken.Invalid"));
  machine.files.erase("/token");
  EXPECT_THAT(found_key(), HasSubstr("cannot read /token"));
}

TEST_F(AlibabaCredentialsTest, TheCommandLineToolsFileGivesTheCurrentProfile) {
  use_config(R"({"name":"main","mode":"AK","access_key_id":"FILE","access_key_secret":"s"})");
  EXPECT_EQ(found_key(), "FILE");
  use_config(R"({"name":"main","mode":"StsToken","access_key_id":"F","access_key_secret":"s"})");
  EXPECT_THAT(found_key(), HasSubstr("mode StsToken needs"));
  use_config(R"({"name":"main","mode":"RamRoleArn"})");
  EXPECT_THAT(found_key(), HasSubstr("mode \"RamRoleArn\" is not supported"));
  machine.variables["ALIBABA_CLOUD_PROFILE"] = "absent";
  EXPECT_THAT(found_key(), HasSubstr("has no profile \"absent\""));
}

TEST_F(AlibabaCredentialsTest, AMalformedFileIsAnErrorThatDoesNotShowIt) {
  machine.files["/h/.aliyun/config.json"] = "{\"secret\": ";
  EXPECT_THAT(found_key(), HasSubstr("/h/.aliyun/config.json is not JSON"));
  EXPECT_THAT(found_key(), Not(HasSubstr("secret")));
}

TEST_F(AlibabaCredentialsTest, TheMachinesRoleIsReadWithAToken) {
  http.handler = [this](const net::ClientRequest& request) -> base::Result<net::Response> {
    if (request.method == "PUT") {
      return net::Response::text(200, "md-token");
    }
    if (request.headers.get("X-aliyun-ecs-metadata-token") != "md-token") {
      return net::Response::text(403, "");
    }
    const bool is_list = request.url == kMetadataRole;
    return net::Response::text(200, is_list ? "worker\n" : keys_json("ROLE", loop.now() + 1h));
  };
  EXPECT_EQ(found_key(), "ROLE");
  EXPECT_EQ(http.requests.back().url, std::string(kMetadataRole) + "worker");
}

TEST_F(AlibabaCredentialsTest, AMachineWithoutHardenedModeIsAskedWithoutAToken) {
  http.handler = [this](const net::ClientRequest& request) -> base::Result<net::Response> {
    if (request.method == "PUT") {
      return net::Response::text(404, "");
    }
    const bool is_list = request.url == kMetadataRole;
    return net::Response::text(200, is_list ? "worker" : keys_json("OPEN", loop.now() + 1h));
  };
  EXPECT_EQ(found_key(), "OPEN");
  machine.variables["ALIBABA_CLOUD_IMDSV1_DISABLED"] = "true";
  EXPECT_THAT(found_key(), HasSubstr("ALIBABA_CLOUD_IMDSV1_DISABLED forbids"));
}

TEST_F(AlibabaCredentialsTest, AHostileMachineGivesErrorsThatShowNothing) {
  for (const std::string body : {"<html>shh</html>", "{}", "[\"shh\"]", R"({"Code":"Failed"})",
                                 R"({"AccessKeyId":"A","AccessKeySecret":"shh"})"}) {
    http.handler = [&body](const net::ClientRequest& request) -> base::Result<net::Response> {
      return net::Response::text(200, request.url == kMetadataRole ? "worker" : body);
    };
    EXPECT_THAT(found_key(), HasSubstr("Alibaba Cloud credentials: instance metadata"));
    EXPECT_THAT(found_key(), Not(HasSubstr("shh")));
  }
  http.handler = [](const net::ClientRequest&) -> base::Result<net::Response> {
    return net::Response::text(200, "../../x?y");
  };
  EXPECT_THAT(found_key(), HasSubstr("no proper name"));
}

TEST_F(AlibabaCredentialsTest, WithoutAnySourceTheMessageListsWhatWasLookedFor) {
  EXPECT_THAT(found_key(), HasSubstr("ALIBABA_CLOUD_OIDC_TOKEN_FILE, a profile in"));
}

TEST_F(AlibabaCredentialsTest, KeysAreRenewedBeforeTheyExpire) {
  use_oidc();
  int asked = 0;
  http.handler = [&](const net::ClientRequest&) -> base::Result<net::Response> {
    const auto key = "K" + std::to_string(++asked);
    return net::Response::json(200, R"({"Credentials":)" + keys_json(key, loop.now() + 1h) + "}");
  };
  CredentialChain chain(parts());
  EXPECT_EQ(wait(loop, chain.get())->access_key_id, "K1");
  loop.run_for(30min);
  EXPECT_EQ(wait(loop, chain.get())->access_key_id, "K1");
  loop.run_for(26min);
  EXPECT_EQ(wait(loop, chain.get())->access_key_id, "K2");
  chain.invalidate();
  EXPECT_EQ(wait(loop, chain.get())->access_key_id, "K3");
}

TEST_F(AlibabaCredentialsTest, TheRegionIsFoundInTheSameOrder) {
  EXPECT_THAT(find_region(machine.environment(), http).error().message,
              HasSubstr("set ALIBABA_CLOUD_REGION_ID"));
  http.handler = [](const net::ClientRequest& request) -> base::Result<net::Response> {
    return net::Response::text(request.method == "PUT" ? 404 : 200, "cn-beijing\n");
  };
  EXPECT_EQ(find_region(machine.environment(), http).value(), "cn-beijing");
  use_config(R"({"name":"main","mode":"AK","region_id":"cn-shenzhen"})");
  EXPECT_EQ(find_region(machine.environment(), http).value(), "cn-shenzhen");
  machine.variables["REGION_ID"] = "cn-shanghai";
  EXPECT_EQ(find_region(machine.environment(), http).value(), "cn-shanghai");
  machine.variables["ALIBABA_CLOUD_REGION_ID"] = "cn-hangzhou";
  EXPECT_EQ(find_region(machine.environment(), http).value(), "cn-hangzhou");
}

}  // namespace
}  // namespace millwright::cloud::alibaba
