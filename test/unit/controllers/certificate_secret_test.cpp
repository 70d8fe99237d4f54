// What the Secret of certificates holds, and what an earlier version's did not.
#include "controllers/process/certificate_secret.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

const base::TimePoint kIssued = *base::parse_rfc3339("2026-03-01T12:00:00Z");

certs::Bundle fresh_bundle() {
  const auto bundle = certs::reconcile(std::nullopt, {.dns_names = {"millwright"}}, kIssued);
  EXPECT_TRUE(bundle);
  return bundle.value_or(certs::Bundle{});
}

TEST(CertificateSecret, HoldsTheWholeBundle) {
  const certs::Bundle bundle = fresh_bundle();
  EXPECT_EQ(from_secret(to_secret(bundle, "space", "name", kIssued)), bundle);
}

TEST(CertificateSecret, OfAnEarlierVersionKeepsItsCaAndGetsAClientCertificate) {
  const certs::Bundle bundle = fresh_bundle();
  boost::json::value secret = to_secret(bundle, "space", "name", kIssued);
  auto& data = secret.at("data").as_object();
  data.erase("client.crt");
  data.erase("client.key");
  const auto read = from_secret(secret);
  ASSERT_TRUE(read);
  const auto next = certs::reconcile(read, {.dns_names = {"millwright"}}, kIssued);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->ca, bundle.ca);
  EXPECT_EQ(next->leaf, bundle.leaf);
  EXPECT_FALSE(next->client.certificate_pem.empty());
}

}  // namespace
}  // namespace millwright::controllers
