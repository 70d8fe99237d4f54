#include "cloud/alibaba/calls/wire/signing.hpp"

#include "millwright/model/codec.hpp"
#include "unit/cloud/fakes/fake_http.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::alibaba {
namespace {

boost::json::value signing_vectors() {
  return model::parse_json(read_data_file("alibaba/signing_vectors.json")).value();
}

std::string text_of(const boost::json::value& vector, std::string_view key) {
  return std::string(model::text_at(vector, key));
}

net::ClientRequest request_of(const boost::json::value& vector) {
  net::ClientRequest request;
  request.method = text_of(vector, "method");
  request.url = text_of(vector, "url");
  request.body = text_of(vector, "body");
  for (const auto& [name, value] : vector.at("headers").as_object()) {
    request.headers.set(std::string(name), std::string(value.as_string()));
  }
  return request;
}

Credentials credentials_of(const boost::json::value& vector) {
  return {.access_key_id = text_of(vector, "accessKey"),
          .secret_access_key = text_of(vector, "secretKey"),
          .session_token = {},
          .expires_at = {}};
}

// A vector whose source shows no steps has none.
void expect_step(const std::string& step, const std::string& expected) {
  if (!expected.empty()) {
    EXPECT_EQ(step, expected);
  }
}

TEST(AlibabaSigning, EveryStepOfEveryAcs3VectorIsAsTheSdkMakesIt) {
  const auto all = signing_vectors();
  ASSERT_EQ(all.at("acs3").as_array().size(), 13U);
  for (const auto& vector : all.at("acs3").as_array()) {
    SCOPED_TRACE(text_of(vector, "name"));
    const auto made = acs3_signature_of(request_of(vector), credentials_of(vector));
    expect_step(made.canonical_request, text_of(vector, "canonicalRequest"));
    expect_step(made.string_to_sign, text_of(vector, "stringToSign"));
    EXPECT_EQ(made.authorization, text_of(vector, "authorization"));
  }
}

TEST(AlibabaSigning, EveryStepOfEveryRpcVectorIsAsTheSdkMakesIt) {
  const auto all = signing_vectors();
  ASSERT_EQ(all.at("rpc").as_array().size(), 9U);
  for (const auto& vector : all.at("rpc").as_array()) {
    SCOPED_TRACE(text_of(vector, "name"));
    Parameters parameters;
    for (const auto& [name, value] : vector.at("parameters").as_object()) {
      parameters.set(std::string(name), std::string(value.as_string()));
    }
    const auto made =
        rpc_signature_of(text_of(vector, "method"), parameters, text_of(vector, "secretKey"));
    expect_step(made.canonical_query, text_of(vector, "canonicalQuery"));
    expect_step(made.string_to_sign, text_of(vector, "stringToSign"));
    EXPECT_EQ(made.signature, text_of(vector, "signature"));
  }
}

TEST(AlibabaSigning, ARequestIsSignedWithAllThatItNeeds) {
  // The same request as the vectors "sts-token" and "doc-example-style-run-instances" sign.
  const auto all = signing_vectors();
  int seen = 0;
  for (const auto& vector : all.at("acs3").as_array()) {
    const auto name = text_of(vector, "name");
    if (name != "sts-token" && name != "doc-example-style-run-instances") {
      continue;
    }
    ++seen;
    const auto complete = request_of(vector);
    auto credentials = credentials_of(vector);
    credentials.session_token = complete.headers.get("x-acs-security-token");
    net::ClientRequest request;
    request.method = complete.method;
    request.url = complete.url;
    sign_acs3(request,
              {.action = std::string(complete.headers.get("x-acs-action")),
               .version = std::string(complete.headers.get("x-acs-version"))},
              credentials,
              {.now = base::parse_rfc3339(complete.headers.get("x-acs-date")).value(),
               .nonce = std::string(complete.headers.get("x-acs-signature-nonce"))});
    EXPECT_EQ(request.headers.get("Authorization"), text_of(vector, "authorization")) << name;
  }
  EXPECT_EQ(seen, 2);
}

TEST(AlibabaSigning, ParametersOfAnRpcCallAreSignedWithTheTokenOfSts) {
  Parameters parameters;
  parameters.set("RegionId", "cn-shenzhen");
  sign_rpc("POST", parameters, {.action = "RunInstances", .version = "2014-05-26"},
           {.access_key_id = "LTAIfake",
            .secret_access_key = "secret",
            .session_token = "CAISfake+token",
            .expires_at = {}},
           {.now = base::parse_rfc3339("2026-01-02T03:04:05Z").value(), .nonce = "n1"});
  EXPECT_EQ(parameters.get("SecurityToken"), "CAISfake+token");
  EXPECT_EQ(parameters.get("Timestamp"), "2026-01-02T03:04:05Z");
  EXPECT_EQ(parameters.get("SignatureNonce"), "n1");
  EXPECT_THAT(parameters.query(), testing::HasSubstr("SecurityToken=CAISfake%2Btoken"));
  auto unsigned_ones = Parameters();
  for (const auto& [name, value] : parameters.all()) {
    if (name != "Signature") {
      unsigned_ones.set(name, value);
    }
  }
  EXPECT_EQ(parameters.get("Signature"),
            rpc_signature_of("POST", unsigned_ones, "secret").signature);
}

TEST(AlibabaParameters, ListsAndTagsAreNumberedAndSortedByByte) {
  const std::vector<std::string> ids{"i-1", "i-2"};
  Parameters parameters;
  parameters.set_list("InstanceId", ids).set_json_list("InstanceIds", ids);
  parameters.set_tags("Tag", {{"b", "2"}, {"a", ""}}).set("Force", true).set("Amount", 1);
  EXPECT_EQ(parameters.query(),
            "Amount=1&Force=true&InstanceId.1=i-1&InstanceId.2=i-2&"
            "InstanceIds=%5B%22i-1%22%2C%22i-2%22%5D&"
            "Tag.1.Key=a&Tag.1.Value=&Tag.2.Key=b&Tag.2.Value=2");
}

}  // namespace
}  // namespace millwright::cloud::alibaba
