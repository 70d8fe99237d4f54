#include "cloud/huawei/calls/wire/signing.hpp"

#include "millwright/model/codec.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::huawei {
namespace {

// "20260102T030405Z"
base::TimePoint signing_time(const std::string& text) {
  const auto iso = text.substr(0, 4) + "-" + text.substr(4, 2) + "-" + text.substr(6, 2) + "T" +
                   text.substr(9, 2) + ":" + text.substr(11, 2) + ":" + text.substr(13, 2) + "Z";
  return base::parse_rfc3339(iso).value();
}

TEST(HuaweiSigning, EveryStepOfEveryVectorIsAsTheSdkMakesIt) {
  const auto json = model::parse_json(read_data_file("huawei/signing_vectors.json")).value();
  const auto& vectors = json.at("vectors").as_array();
  ASSERT_EQ(vectors.size(), 10U);
  for (const auto& each : vectors) {
    const auto text = [&each](std::string_view key) {
      return std::string(model::text_at(each, key));
    };
    SCOPED_TRACE(text("name"));
    net::ClientRequest request;
    request.method = text("method");
    request.url = text("url");
    request.body = text("body");
    for (const auto& [name, value] : each.at("headers").as_object()) {
      request.headers.set(std::string(name), std::string(value.as_string()));
    }
    Credentials credentials;
    credentials.access_key_id = text("accessKey");
    credentials.secret_access_key = text("secretKey");
    credentials.session_token = text("securityToken");
    auto bare = request;
    sign(request, credentials, signing_time(text("date")));
    EXPECT_EQ(request.headers.get("Authorization"), text("authorization"));

    for (const std::string name : {"X-Sdk-Date", "X-Security-Token", "X-Sdk-Content-Sha256"}) {
      if (request.headers.find(name) != nullptr) {
        bare.headers.set(name, std::string(request.headers.get(name)));
      }
    }
    const auto steps = signature_of(bare, credentials);
    EXPECT_EQ(steps.canonical_request, text("canonicalRequest"));
    EXPECT_EQ(steps.string_to_sign, text("stringToSign"));
  }
}

TEST(HuaweiSigning, AnEmptyPathIsASlash) {
  net::ClientRequest request;
  for (const std::string url : {"https://iam.example.com", "https://iam.example.com/"}) {
    request.url = url;
    EXPECT_THAT(signature_of(request, {}).canonical_request, testing::StartsWith("GET\n/\n"));
  }
}

}  // namespace
}  // namespace millwright::cloud::huawei
