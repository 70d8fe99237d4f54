#include "cloud/aws/keys/credentials.hpp"

#include "cloud/aws/keys/profile_file.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <rapidcheck/gtest.h>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() : loop(kStart), http(loop) {
    http.handler = [](const net::ClientRequest& request) -> base::Result<net::Response> {
      return base::fail(ErrorKind::Unavailable, "nothing answers at " + request.url);
    };
  }
  CredentialParts parts() {
    return {.loop = loop,
            .client = http,
            .environment = machine.environment(),
            .region = "us-west-2",
            .log = {},
            .seed = 1};
  }
  base::Result<Credentials> find() {
    CredentialChain chain(parts());
    return wait(loop, chain.get());
  }
  std::string found_key() {
    const auto found = find();
    return found ? found->access_key_id : found.error().message;
  }
  std::vector<std::string> urls() const {
    std::vector<std::string> result;
    for (const auto& request : http.requests) {
      result.push_back(request.method + " " + request.url);
    }
    return result;
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
};

net::Response sts_answer(const std::string& operation, const std::string& key,
                         base::TimePoint expires) {
  return xml("<" + operation + "Response><" + operation + "Result><Credentials><AccessKeyId>" +
             key + "</AccessKeyId><SecretAccessKey>shh</SecretAccessKey><SessionToken>tok" +
             "</SessionToken><Expiration>" + base::format_rfc3339(expires) +
             "</Expiration></Credentials></" + operation + "Result></" + operation + "Response>");
}

net::Response json_keys(const std::string& key, base::TimePoint expires) {
  return net::Response::json(200, R"({"Code":"Success","AccessKeyId":")" + key +
                                      R"(","SecretAccessKey":"shh","Token":"tok",)" +
                                      R"("Expiration":")" + base::format_rfc3339(expires) + "\"}");
}

TEST_F(CredentialsTest, TheEnvironmentComesFirst) {
  machine.variables = {{"AWS_ACCESS_KEY_ID", "ENV"},
                       {"AWS_SECRET_ACCESS_KEY", "s"},
                       {"AWS_SESSION_TOKEN", "t"},
                       {"AWS_ROLE_ARN", "arn:x"},
                       {"AWS_WEB_IDENTITY_TOKEN_FILE", "/token"}};
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->access_key_id, "ENV");
  EXPECT_EQ(found->session_token, "t");
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(CredentialsTest, HalfAKeyInTheEnvironmentIsAnError) {
  machine.variables = {{"AWS_ACCESS_KEY_ID", "ENV"}};
  EXPECT_THAT(found_key(), HasSubstr("only one of AWS_ACCESS_KEY_ID"));
}

TEST_F(CredentialsTest, WebIdentityAssumesTheRoleWithoutASignature) {
  machine.variables = {{"AWS_ROLE_ARN", "arn:aws:iam::1:role/karpenter"},
                       {"AWS_WEB_IDENTITY_TOKEN_FILE", "/token"},
                       {"AWS_ROLE_SESSION_NAME", "me"}};
  machine.files = {{"/token", "jwt.a.b\n"}};
  http.script({sts_answer("AssumeRoleWithWebIdentity", "IRSA", kStart + 1h)});
  EXPECT_EQ(found_key(), "IRSA");
  ASSERT_EQ(http.requests.size(), 1U);
  EXPECT_EQ(http.requests[0].url, "https://sts.us-west-2.amazonaws.com/");
  EXPECT_EQ(http.requests[0].headers.find("Authorization"), nullptr);
  EXPECT_EQ(http.requests[0].body,
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15"
            "&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fkarpenter&RoleSessionName=me"
            "&WebIdentityToken=jwt.a.b&DurationSeconds=3600");
}

TEST_F(CredentialsTest, AFailingWebIdentityIsNotReplacedBySomethingElse) {
  machine.variables = {
      {"AWS_ROLE_ARN", "arn:x"}, {"AWS_WEB_IDENTITY_TOKEN_FILE", "/token"}, {"HOME", "/h"}};
  machine.files = {
      {"/token", "jwt"},
      {"/h/.aws/credentials", "[default]\naws_access_key_id=F\naws_secret_access_key=s\n"}};
  http.script(
      {xml("<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not authorized to "
           "perform sts:AssumeRoleWithWebIdentity</Message></Error></ErrorResponse>",
           403)});
  EXPECT_THAT(found_key(), HasSubstr("assuming the role arn:x: sts AssumeRoleWithWebIdentity: "
                                     "AccessDenied"));
}

TEST_F(CredentialsTest, SharedFilesGiveTheProfilesKeys) {
  machine.variables = {{"HOME", "/h"}};
  machine.files = {{"/h/.aws/credentials",
                    "# mine\n[default]\naws_access_key_id = DEFAULT ; old\n"
                    "aws_secret_access_key=s\n[dev]\naws_access_key_id=DEV\n"
                    "aws_secret_access_key=s\n"}};
  EXPECT_EQ(found_key(), "DEFAULT");
  machine.variables["AWS_PROFILE"] = "dev";
  EXPECT_EQ(found_key(), "DEV");
  machine.variables["AWS_PROFILE"] = "nobody";
  EXPECT_THAT(found_key(), HasSubstr("AWS_PROFILE names \"nobody\""));
}

TEST_F(CredentialsTest, AProfileMayAssumeARoleWithAnothersKeys) {
  machine.variables = {{"HOME", "/h"}, {"AWS_PROFILE", "admin"}};
  machine.files = {
      {"/h/.aws/config",
       "[profile admin]\nrole_arn = arn:r\nsource_profile = base\n"
       "external_id = e1\n"},
      {"/h/.aws/credentials", "[base]\naws_access_key_id=BASE\naws_secret_access_key=s\n"}};
  http.script({sts_answer("AssumeRole", "ASSUMED", kStart + 1h)});
  EXPECT_EQ(found_key(), "ASSUMED");
  EXPECT_THAT(http.requests[0].body, HasSubstr("ExternalId=e1"));
  EXPECT_THAT(std::string(http.requests[0].headers.get("Authorization")),
              HasSubstr("Credential=BASE/20260102/us-west-2/sts/"));
}

TEST_F(CredentialsTest, ProfilesThatLeadInACircleAreRefused) {
  machine.variables = {{"HOME", "/h"}, {"AWS_PROFILE", "a"}};
  machine.files = {{"/h/.aws/config",
                    "[profile a]\nrole_arn=x\nsource_profile=b\n[profile b]\nrole_arn=y\n"
                    "source_profile=a\n"}};
  EXPECT_THAT(found_key(), HasSubstr("circle"));
}

TEST_F(CredentialsTest, WhatIsNotSupportedInAProfileIsSaid) {
  machine.variables = {{"HOME", "/h"}};
  machine.files = {{"/h/.aws/config", "[default]\ncredential_process = /bin/keys\n"}};
  EXPECT_THAT(found_key(), HasSubstr("credential_process is not supported"));
}

TEST_F(CredentialsTest, PodIdentityAsksTheAgentWithTheTokenFromItsFile) {
  machine.variables = {
      {"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"},
      {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/var/run/token"}};
  machine.files = {{"/var/run/token", "pod-token\n"}};
  http.script({json_keys("POD", kStart + 1h)});
  EXPECT_EQ(found_key(), "POD");
  EXPECT_THAT(urls(), ElementsAre("GET http://169.254.170.23/v1/credentials"));
  EXPECT_EQ(http.requests[0].headers.get("Authorization"), "pod-token");
}

TEST_F(CredentialsTest, KeysAreNotFetchedInClearTextFromAfar) {
  for (const std::string url :
       {"http://example.com/keys", "http://169.254.170.23.evil.com/x", "ftp://localhost/"}) {
    machine.variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url}};
    EXPECT_THAT(found_key(), HasSubstr("AWS_CONTAINER_CREDENTIALS_FULL_URI: expected https"))
        << url;
  }
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(CredentialsTest, InstanceMetadataIsReadWithASessionToken) {
  const std::string root = "http://169.254.169.254/latest/";
  http.handler = [&](const net::ClientRequest& request) -> base::Result<net::Response> {
    if (request.method == "PUT" && request.url == root + "api/token") {
      return net::Response::text(200, "session");
    }
    EXPECT_EQ(request.headers.get("X-aws-ec2-metadata-token"), "session");
    if (request.url == root + "meta-data/iam/security-credentials/") {
      return net::Response::text(200, "node-role\n");
    }
    return json_keys("IMDS", kStart + 6h);
  };
  EXPECT_EQ(found_key(), "IMDS");
  EXPECT_EQ(http.requests.back().url, root + "meta-data/iam/security-credentials/node-role");
  EXPECT_EQ(http.requests[0].headers.get("X-aws-ec2-metadata-token-ttl-seconds"), "21600");
}

TEST_F(CredentialsTest, MetadataCanBeTurnedOff) {
  machine.variables = {{"AWS_EC2_METADATA_DISABLED", "true"}};
  EXPECT_THAT(found_key(), HasSubstr("no AWS credentials: looked for AWS_ACCESS_KEY_ID"));
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(CredentialsTest, NothingAnywhereListsWhatWasLookedFor) {
  const auto found = find();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::Denied);
  EXPECT_THAT(found.error().message, HasSubstr("instance role"));
}

TEST_F(CredentialsTest, NoErrorShowsAKey) {
  machine.variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "https://agent/keys"}};
  for (const std::string body :
       {R"({"SecretAccessKey":"TOPSECRET"})", "TOPSECRET", "[\"TOPSECRET\"]"}) {
    http.script({net::Response::text(200, body)});
    EXPECT_THAT(found_key(), Not(HasSubstr("TOPSECRET")));
  }
  http.script({net::Response::text(400, "TOPSECRET")});
  EXPECT_THAT(found_key(), Not(HasSubstr("TOPSECRET")));
}

class RenewalTest : public CredentialsTest {
 protected:
  RenewalTest() {
    machine.variables = {{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "https://agent/keys"}};
    http.handler = [this](const net::ClientRequest&) -> base::Result<net::Response> {
      if (fails) {
        return net::Response::text(400, "");
      }
      return json_keys("K" + std::to_string(++made), loop.now() + 1h);
    };
  }
  std::string key(CredentialChain& chain) {
    const auto found = wait(loop, chain.get());
    return found ? found->access_key_id : found.error().message;
  }
  bool fails = false;
  int made = 0;
};

TEST_F(RenewalTest, KeysAreKeptUntilFiveMinutesBeforeTheyExpire) {
  CredentialChain chain(parts());
  EXPECT_EQ(key(chain), "K1");
  loop.run_for(54min);
  EXPECT_EQ(key(chain), "K1");
  loop.run_for(2min);
  EXPECT_EQ(key(chain), "K2");
}

TEST_F(RenewalTest, OldKeysServeWhileRenewalFails) {
  CredentialChain chain(parts());
  EXPECT_EQ(key(chain), "K1");
  fails = true;
  loop.run_for(57min);
  EXPECT_EQ(key(chain), "K1");
  loop.run_for(4min);
  EXPECT_THAT(key(chain), HasSubstr("container credentials: HTTP 400"));
  fails = false;
  EXPECT_EQ(key(chain), "K2");
}

TEST_F(RenewalTest, RefusedKeysAreNotUsedAgain) {
  CredentialChain chain(parts());
  EXPECT_EQ(key(chain), "K1");
  chain.invalidate();
  EXPECT_EQ(key(chain), "K2");
}

TEST_F(RenewalTest, ManyCallersCauseOneRenewal) {
  CredentialChain chain(parts());
  base::TaskGroup group(loop);
  std::vector<std::string> keys;
  struct Run {
    static base::Task<void> one(CredentialChain& from, std::vector<std::string>& out) {
      auto found = co_await from.get();
      out.push_back(found ? found->access_key_id : found.error().message);
    }
  };
  for (int i = 0; i < 5; ++i) {
    group.spawn(Run::one(chain, keys));
  }
  loop.run_for(1min);
  EXPECT_THAT(keys, ElementsAre("K1", "K1", "K1", "K1", "K1"));
  EXPECT_EQ(http.requests.size(), 1U);
  fails = true;
  keys.clear();
  chain.invalidate();
  for (int i = 0; i < 3; ++i) {
    group.spawn(Run::one(chain, keys));
  }
  loop.run_for(1min);
  EXPECT_THAT(keys, testing::Each(HasSubstr("HTTP 400")));
}

class RegionTest : public CredentialsTest {
 protected:
  std::string region() {
    const auto found = find_region(parts());
    return found ? *found : found.error().message;
  }
};

TEST_F(RegionTest, ComesFromVariableProfileOrMachine) {
  EXPECT_THAT(region(), HasSubstr("set AWS_REGION"));
  http.handler = [](const net::ClientRequest& request) -> base::Result<net::Response> {
    return net::Response::text(200, request.method == "PUT" ? "t" : "eu-central-1");
  };
  EXPECT_EQ(region(), "eu-central-1");
  machine.variables = {{"HOME", "/h"}};
  machine.files = {{"/h/.aws/config", "[default]\nregion=us-east-2\n"}};
  EXPECT_EQ(region(), "us-east-2");
  machine.variables["AWS_REGION"] = "ap-south-1";
  EXPECT_EQ(region(), "ap-south-1");
}

TEST(ProfileFile, NamesFileAndLineOfAMistakeButNotItsText) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[default\n", "f:1: expected ]"},
      {"[a]\nsecret\n", "f:2: expected \"key = value\""},
      {"k = v\n", "f:1: expected a section"}};
  for (const auto& [text, problem] : cases) {
    const auto parsed = parse_profiles(text, false, "f");
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr(problem));
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("secret")));
  }
}

TEST(ProfileFile, SkipsNestedSettingsAndOtherSections) {
  const auto parsed = parse_profiles(
      "[default]\r\nregion = r\r\ns3 =\n  max = 5\n[sso-session x]\nregion = other\n"
      "[services y]\nec2 =\n [profile z ]\n",
      true, "f");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->size(), 1U);
  EXPECT_EQ(parsed->at("default").at("region"), "r");
  EXPECT_FALSE(parsed->at("default").contains("max"));
}

RC_GTEST_PROP(ProfileFile, NoTextBreaksIt, (const std::string& text, bool in_config)) {
  const auto parsed = parse_profiles(text, in_config, "f");
  RC_ASSERT(parsed.has_value() || parsed.error().kind == ErrorKind::Invalid);
}

}  // namespace
}  // namespace millwright::cloud::aws
