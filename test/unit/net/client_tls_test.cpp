// Whom the client trusts, and what it shows of itself.
#include "unit/net/caller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::net::test {
namespace {

using base::ErrorKind;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Client, TrustsOnlyItsCaAndTheNameAskedFor) {
  const Site site(echo(), Site::tls());
  const Identities& id = identities();
  struct Case {
    const char* what;
    ClientTls tls;
    bool trusted;
  };
  const std::vector<Case> cases{
      {"right CA", {.ca_pem = id.ca.certificate_pem}, true},
      {"two CAs", {.ca_pem = id.other_ca.certificate_pem + id.ca.certificate_pem}, true},
      {"wrong CA", {.ca_pem = id.other_ca.certificate_pem}, false},
      {"the system's CAs", {}, false},
      {"no check", {.insecure_skip_verify = true}, true},
      {"another valid name", {.ca_pem = id.ca.certificate_pem, .server_name = "localhost"}, true},
      {"another name", {.ca_pem = id.ca.certificate_pem, .server_name = "elsewhere"}, false},
      {"name no check", {.server_name = "elsewhere", .insecure_skip_verify = true}, true},
  };
  for (const Case& c : cases) {
    Caller caller(c.tls);
    const auto answer = caller.blocking({.url = site.url("/x?token=secret")});
    EXPECT_EQ(answer.has_value(), c.trusted) << c.what;
    if (!answer) {
      expect_error(answer, ErrorKind::Unavailable, "https://127.0.0.1", c.what);
      EXPECT_THAT(answer.error().message, AllOf(HasSubstr("CA"), Not(HasSubstr("secret"))));
    }
  }
}

TEST(Client, AnotherServerNameIsForTlsOnly) {
  Request seen;
  const Site site(
      [&](Request request, const std::shared_ptr<Exchange>& exchange) {
        seen = std::move(request);
        exchange->respond(Response::text(200, ""));
      },
      Site::tls());
  Caller caller({.ca_pem = identities().ca.certificate_pem, .server_name = "localhost"});
  ASSERT_TRUE(caller.blocking({.url = site.url("/p?q=1")}));
  EXPECT_EQ(seen.target, "/p?q=1");
  EXPECT_EQ(seen.headers.get("Host"), "127.0.0.1:" + std::to_string(site.port()));
}

TEST(Client, ShowsItsCertificate) {
  const Site site(echo(), Site::tls(), server_identity(identities().ca.certificate_pem));
  const std::string ca = identities().ca.certificate_pem;
  const certs::KeyPair& own = identities().client;
  const certs::KeyPair& foreign = identities().foreign_client;
  EXPECT_TRUE(Caller({ca, own.certificate_pem, own.key_pem}).blocking({.url = site.url()}));
  EXPECT_FALSE(
      Caller({ca, foreign.certificate_pem, foreign.key_pem}).blocking({.url = site.url()}));
  EXPECT_FALSE(Caller({.ca_pem = ca}).blocking({.url = site.url()}));
  expect_error(Caller({ca, own.certificate_pem, "no key"}).blocking({.url = site.url()}),
               ErrorKind::Invalid, "check the client certificate");
}

TEST(Client, RefusesOldTls) {
  // A server that would speak only TLS 1.1, as far as the client can tell: it answers with that.
  const FakePeer peer([](int fd) {
    write_all(fd, std::string("\x15\x03\x02\x00\x02\x02\x46", 7));  // alert: protocol version
    wait_for_end(fd);
  });
  Caller caller({.insecure_skip_verify = true});
  expect_error(caller.blocking({.url = "https://127.0.0.1:" + std::to_string(peer.port())}),
               ErrorKind::Unavailable, "127.0.0.1");
}

}  // namespace
}  // namespace millwright::net::test
