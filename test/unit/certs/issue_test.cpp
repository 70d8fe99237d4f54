// Making certificates and checking them.
#include "millwright/certs/certs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::certs {
namespace {

using base::ErrorKind;
using base::TimePoint;
using std::chrono::hours;
using testing::HasSubstr;

const TimePoint kNow = *base::parse_rfc3339("2026-03-01T12:00:00Z");
const Validity kYear{kNow - hours(1), kNow + hours(24 * 365)};
const Validity kMonth{kNow - hours(1), kNow + hours(24 * 30)};

KeyPair ca(const std::string& name = "test-ca") {
  auto made = make_ca(name, kYear);
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(KeyPair{});
}

KeyPair leaf(const KeyPair& issuer, std::vector<std::string> dns = {"a.example", "*.b.example"}) {
  auto made = make_leaf(issuer, "server", dns, {"127.0.0.1", "::1"}, kMonth);
  EXPECT_TRUE(made) << made.error().message;
  return made.value_or(KeyPair{});
}

TEST(Issue, ALeafOfACaVerifiesForItsNames) {
  const KeyPair issuer = ca();
  const auto result =
      verify(leaf(issuer), issuer.certificate_pem, {"a.example", "x.b.example"}, kNow);
  EXPECT_TRUE(result) << result.error().message;
}

TEST(Issue, ValidityIsWhatWasAskedInWholeSeconds) {
  const Validity asked{kNow + std::chrono::milliseconds(700), kNow + hours(10)};
  const auto made = make_ca("x", asked);
  ASSERT_TRUE(made);
  const auto got = validity_of(made->certificate_pem);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->not_before, kNow);
  EXPECT_EQ(got->not_after, kNow + hours(10));
}

TEST(Issue, ValidityBeyond2050IsKept) {
  const TimePoint end = *base::parse_rfc3339("2061-02-03T04:05:06Z");
  const auto made = make_ca("x", {kNow, end});
  ASSERT_TRUE(made);
  EXPECT_EQ(validity_of(made->certificate_pem)->not_after, end);
}

TEST(Issue, TwoKeysAndSerialsAreNeverTheSame) {
  const KeyPair a = ca();
  const KeyPair b = ca();
  EXPECT_NE(a.key_pem, b.key_pem);
  EXPECT_NE(a.certificate_pem, b.certificate_pem);
}

TEST(Issue, AClientLeafIsNoServerLeaf) {
  const KeyPair issuer = ca();
  const auto client = make_client_leaf(issuer, "alice", {"system:masters", "dev"}, kMonth);
  ASSERT_TRUE(client) << client.error().message;
  const auto as_server = verify(*client, issuer.certificate_pem, {}, kNow);
  ASSERT_FALSE(as_server);
  EXPECT_EQ(as_server.error().kind, ErrorKind::Invalid);
}

TEST(Issue, ALeafCannotSign) {
  const KeyPair issuer = ca();
  const auto made = make_leaf(leaf(issuer), "x", {"x.example"}, {}, kMonth);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("not that of a CA"));
}

struct BadInput {
  const char* what;
  std::function<base::Result<KeyPair>()> make;
  const char* message;
};

TEST(Issue, BadInputIsInvalidAndNamed) {
  const KeyPair issuer = ca();
  const KeyPair other = ca();
  const std::vector<BadInput> cases{
      {"empty name", [] { return make_ca("", kYear); }, "1 to 64 characters"},
      {"long name", [] { return make_ca(std::string(65, 'a'), kYear); }, "1 to 64 characters"},
      {"ends before it begins",
       [] {
         return make_ca("x", {kNow, kNow});
       },
       "end after it begins"},
      {"no names", [&] { return make_leaf(issuer, "x", {}, {}, kMonth); }, "at least one DNS name"},
      {"no DNS name", [&] { return make_leaf(issuer, "x", {"a,DNS:evil"}, {}, kMonth); },
       "\"a,DNS:evil\" is not a DNS name"},
      {"no address", [&] { return make_leaf(issuer, "x", {}, {"300.1.1.1"}, kMonth); },
       "\"300.1.1.1\" is not an IP address"},
      {"CA of nonsense",
       [&] {
         return make_leaf({"x", "y"}, "x", {"a"}, {}, kMonth);
       },
       "the CA certificate is no readable certificate"},
      {"CA key of nonsense",
       [&] {
         return make_leaf({issuer.certificate_pem, "y"}, "x", {"a"}, {}, kMonth);
       },
       "the CA key is no readable private key"},
      {"foreign CA key",
       [&] {
         return make_leaf({issuer.certificate_pem, other.key_pem}, "x", {"a"}, {}, kMonth);
       },
       "does not belong"},
  };
  for (const BadInput& bad : cases) {
    const auto made = bad.make();
    ASSERT_FALSE(made) << bad.what;
    EXPECT_EQ(made.error().kind, ErrorKind::Invalid) << bad.what;
    EXPECT_THAT(made.error().message, HasSubstr(bad.message)) << bad.what;
  }
}

struct VerifyCase {
  const char* what;
  KeyPair pair;
  std::string trust;
  std::vector<std::string> names;
  TimePoint at;
  const char* message;  // empty: verifies
};

TEST(Verify, SaysWhatIsWrong) {
  const KeyPair issuer = ca();
  const KeyPair stranger = ca("stranger");
  const KeyPair namesake = ca();  // the same name, another key
  const KeyPair good = leaf(issuer);
  const std::string cert = issuer.certificate_pem;
  const std::vector<VerifyCase> cases{
      {"good", good, cert, {"a.example"}, kNow, ""},
      {"one of two CAs", good, stranger.certificate_pem + cert, {"a.example"}, kNow, ""},
      {"other CA", good, stranger.certificate_pem, {}, kNow, "not signed by any of the CAs"},
      {"CA of the same name", good, namesake.certificate_pem, {}, kNow, "not signed by any"},
      {"expired", good, cert, {}, kMonth.not_after + hours(1), "expired"},
      {"too early", good, cert, {}, kMonth.not_before - hours(1), "not valid yet"},
      {"other name", good, cert, {"c.example"}, kNow, "does not name \"c.example\""},
      {"second name wrong", good, cert, {"a.example", "c"}, kNow, "does not name \"c\""},
      {"wildcard covers one label", good, cert, {"x.y.b.example"}, kNow, "does not name"},
      {"foreign key", {good.certificate_pem, stranger.key_pem}, cert, {}, kNow, "does not belong"},
      {"no key", {good.certificate_pem, ""}, cert, {}, kNow, "key is no readable"},
      {"no certificate", {"", good.key_pem}, cert, {}, kNow, "the certificate holds"},
      {"no CA", good, "", {}, kNow, "the CA bundle holds"},
      {"half a CA", good, cert.substr(0, cert.size() / 2), {}, kNow, "the CA bundle holds"},
      {"a good CA and half of one",
       good,
       cert + cert.substr(0, cert.size() / 2),
       {},
       kNow,
       "the CA bundle holds"},
  };
  for (const VerifyCase& c : cases) {
    const auto result = verify(c.pair, c.trust, c.names, c.at);
    if (*c.message == '\0') {
      EXPECT_TRUE(result) << c.what << ": " << result.error().message;
      continue;
    }
    ASSERT_FALSE(result) << c.what;
    EXPECT_EQ(result.error().kind, ErrorKind::Invalid) << c.what;
    EXPECT_THAT(result.error().message, HasSubstr(c.message)) << c.what;
  }
}

TEST(Verify, AnEncryptedKeyIsRefusedAndNotAskedAbout) {
  const KeyPair issuer = ca();
  KeyPair pair = leaf(issuer);
  pair.key_pem =
      "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
      "DEK-Info: AES-128-CBC,00000000000000000000000000000000\n\nAAAA\n"
      "-----END EC PRIVATE KEY-----\n";
  EXPECT_FALSE(verify(pair, issuer.certificate_pem, {}, kNow));
}

TEST(Verify, ValidityOfNonsenseIsInvalid) {
  for (const std::string text : {"", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n"}) {
    const auto result = validity_of(text);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Invalid);
  }
}

}  // namespace
}  // namespace millwright::certs
