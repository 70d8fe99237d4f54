#include "cloud/huawei/keys/credentials.hpp"

#include "unit/cloud/fakes/fake_http.hpp"

namespace millwright::cloud::huawei {
namespace {

using base::ErrorKind;
using testing::HasSubstr;
using testing::Not;

constexpr auto kKeys = R"({"credential":{"access":"AK","secret":"hush","securitytoken":"tok",)"
                       R"("expires_at":"2026-01-02T01:00:00.000000Z"}})";

class HuaweiKeys : public testing::Test {
 protected:
  HuaweiKeys() { machine.variables["HOME"] = "/root"; }
  base::Result<Credentials> get() { return wait(loop, chain.get()); }

  base::VirtualLoop loop{kStart};
  FakeHttp http{loop};
  FakeMachine machine;
  CredentialChain chain{{.loop = loop,
                         .client = http,
                         .environment = machine.environment(),
                         .iam_url = "https://iam.example.com",
                         .log = {}}};
};

TEST_F(HuaweiKeys, OfTheEnvironmentComeFirst) {
  machine.variables["HUAWEICLOUD_SDK_AK"] = "a";
  machine.variables["HUAWEICLOUD_SDK_SK"] = "s";
  machine.variables["HUAWEICLOUD_SDK_SECURITY_TOKEN"] = "t";
  machine.files["/root/.huaweicloud/credentials"] = "[basic]\nak = other\nsk = other\n";
  const auto keys = get();
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->access_key_id, "a");
  EXPECT_EQ(keys->secret_access_key, "s");
  EXPECT_EQ(keys->session_token, "t");
  EXPECT_TRUE(http.requests.empty());
}

TEST_F(HuaweiKeys, HalfAPairIsAMistake) {
  machine.variables["HUAWEICLOUD_SDK_SK"] = "hush";
  const auto keys = get();
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().kind, ErrorKind::Invalid);
  EXPECT_THAT(keys.error().message, HasSubstr("set both or none"));
  EXPECT_THAT(keys.error().message, Not(HasSubstr("hush")));
}

TEST_F(HuaweiKeys, AreReadFromTheProfileFile) {
  machine.files["/root/.huaweicloud/credentials"] =
      "# keys\n[global]\nak = g\n[basic]\nak = file\nsk = secret ; mine\nsecurity_token = t\n";
  const auto keys = get();
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->access_key_id, "file");
  EXPECT_EQ(keys->secret_access_key, "secret");
  EXPECT_EQ(keys->session_token, "t");
}

TEST_F(HuaweiKeys, OfAProfileFileThatIsNamedMustBeThere) {
  machine.variables["HUAWEICLOUD_SDK_CREDENTIALS_FILE"] = "/etc/keys";
  EXPECT_THAT(get().error().message, HasSubstr("/etc/keys"));
  machine.files["/etc/keys"] = "[global]\nak = g\n";
  EXPECT_THAT(get().error().message, HasSubstr("[basic]"));
  machine.files["/etc/keys"] = "[basic]\nsk = hush\n";
  const auto half = get();
  EXPECT_THAT(half.error().message, HasSubstr("needs both"));
  EXPECT_THAT(half.error().message, Not(HasSubstr("hush")));
}

TEST_F(HuaweiKeys, OfTheAgencyAreRenewedBeforeTheyEnd) {
  http.handler = [](const net::ClientRequest& request) {
    return request.method == "PUT" ? net::Response::text(200, "session")
                                   : net::Response::json(200, kKeys);
  };
  const auto keys = get();
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->access_key_id, "AK");
  EXPECT_EQ(http.requests[1].url, "http://169.254.169.254/openstack/latest/securitykey");
  EXPECT_EQ(http.requests[1].headers.get("X-Metadata-Token"), "session");
  ASSERT_TRUE(get());
  EXPECT_EQ(http.requests.size(), 2U) << "reused";
  loop.run_for(std::chrono::minutes(56));
  ASSERT_TRUE(get());
  EXPECT_EQ(http.requests.size(), 4U) << "renewed five minutes before their end";
}

TEST_F(HuaweiKeys, OfTheAgencyComeWithoutATokenToo) {
  http.handler = [](const net::ClientRequest& request) {
    return request.method == "PUT" ? net::Response::text(405, "") : net::Response::json(200, kKeys);
  };
  EXPECT_TRUE(get());
}

TEST_F(HuaweiKeys, HostileAnswersOfTheAgencyAreNotShown) {
  for (const std::string body :
       {"<html>hush", R"({"credential":3})", R"({"credential":{"access":"A","secret":"hush"}})",
        R"({"credential":{"access":"A","secret":"hush","securitytoken":"t","expires_at":"x"}})"}) {
    http.handler = [body](const net::ClientRequest&) { return net::Response::text(200, body); };
    const auto keys = get();
    ASSERT_FALSE(keys) << body;
    EXPECT_THAT(keys.error().message, HasSubstr("agency"));
    EXPECT_THAT(keys.error().message, Not(HasSubstr("hush")));
  }
}

TEST_F(HuaweiKeys, AnIdentityTokenIsExchangedTwice) {
  machine.variables["HUAWEICLOUD_SDK_ID_TOKEN_FILE"] = "/token";
  EXPECT_THAT(get().error().message, HasSubstr("HUAWEICLOUD_SDK_IDP_ID"));
  machine.variables["HUAWEICLOUD_SDK_IDP_ID"] = "cluster";
  machine.variables["HUAWEICLOUD_SDK_PROJECT_ID"] = "p1";
  machine.files["/token"] = "jwt\n";
  http.handler = [](const net::ClientRequest& request) {
    if (request.url.ends_with("/v3.0/OS-AUTH/id-token/tokens")) {
      auto response = net::Response::json(201, "{}");
      response.headers.set("X-Subject-Token", "iam-token");
      return response;
    }
    return net::Response::json(201, kKeys);
  };
  const auto keys = get();
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->session_token, "tok");
  EXPECT_EQ(http.requests[0].headers.get("X-Idp-Id"), "cluster");
  EXPECT_THAT(http.requests[0].body, HasSubstr(R"("id_token":{"id":"jwt"})"));
  EXPECT_EQ(http.requests[1].headers.get("X-Auth-Token"), "iam-token");
}

TEST_F(HuaweiKeys, WithoutAnySourceSayWhatWasLookedFor) {
  http.handler = [](const net::ClientRequest&) { return net::Response::text(404, ""); };
  const auto keys = get();
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().kind, ErrorKind::Denied);
  EXPECT_THAT(keys.error().message, HasSubstr("HUAWEICLOUD_SDK_AK"));
}

}  // namespace
}  // namespace millwright::cloud::huawei
