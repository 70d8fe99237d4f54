#include "cloud/aws/calls/wire/signing.hpp"

#include "cloud/common/text/digest.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

struct Vector {
  std::string name;
  net::ClientRequest request;
  SigningScope scope;
  Credentials credentials;
  base::TimePoint now;
  Signature expected;
};

// "20260102T030405Z"
base::TimePoint parse_date(const std::string& text) {
  const auto iso = text.substr(0, 4) + "-" + text.substr(4, 2) + "-" + text.substr(6, 2) + "T" +
                   text.substr(9, 2) + ":" + text.substr(11, 2) + ":" + text.substr(13, 2) + "Z";
  return base::parse_rfc3339(iso).value();
}

std::vector<Vector> vectors() {
  const auto json = model::parse_json(read_test_data("signing_vectors.json")).value();
  std::vector<Vector> result;
  for (const auto& each : json.at("vectors").as_array()) {
    const auto text = [&each](std::string_view key) {
      return std::string(model::text_at(each, key));
    };
    Vector vector;
    vector.name = text("name");
    vector.request.method = text("method");
    vector.request.url = text("url");
    vector.request.body = text("body");
    for (const auto& [name, value] : each.at("headers").as_object()) {
      vector.request.headers.set(std::string(name), std::string(value.as_string()));
    }
    vector.scope = {.service = text("service"), .region = text("region")};
    vector.credentials.access_key_id = text("accessKey");
    vector.credentials.secret_access_key = text("secretKey");
    vector.credentials.session_token = text("sessionToken");
    vector.now = parse_date(text("date"));
    vector.expected = {text("canonicalRequest"), text("stringToSign"), text("authorization")};
    result.push_back(std::move(vector));
  }
  return result;
}

TEST(Signing, EveryStepOfEveryVectorIsAsBotocoreMakesIt) {
  const auto all = vectors();
  ASSERT_EQ(all.size(), 10U);
  for (const auto& vector : all) {
    SCOPED_TRACE(vector.name);
    auto request = vector.request;
    sign(request, vector.scope, vector.credentials, vector.now);
    EXPECT_EQ(request.headers.get("Authorization"), vector.expected.authorization);
    EXPECT_EQ(request.headers.get("X-Amz-Security-Token"), vector.credentials.session_token);

    auto unsigned_request = vector.request;
    unsigned_request.headers.set("X-Amz-Date", std::string(request.headers.get("X-Amz-Date")));
    if (!vector.credentials.session_token.empty()) {
      unsigned_request.headers.set("X-Amz-Security-Token", vector.credentials.session_token);
    }
    const auto steps = signature_of(unsigned_request, vector.scope, vector.credentials);
    EXPECT_EQ(steps.canonical_request, vector.expected.canonical_request);
    EXPECT_EQ(steps.string_to_sign, vector.expected.string_to_sign);
  }
}

TEST(Signing, ThePortOfTheSchemeItselfIsNoPartOfTheHost) {
  net::ClientRequest request;
  request.url = "https://ec2.us-west-2.amazonaws.com:443/";
  EXPECT_THAT(signature_of(request, {}, {}).canonical_request,
              testing::HasSubstr("host:ec2.us-west-2.amazonaws.com\n"));
  request.url = "http://127.0.0.1:443";
  EXPECT_THAT(signature_of(request, {}, {}).canonical_request,
              testing::HasSubstr("host:127.0.0.1:443\n"));
}

TEST(Signing, DigestsMatchThePublishedOnes) {
  // FIPS 180-2 appendix B.1 and RFC 4231 test case 2.
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace millwright::cloud::aws
