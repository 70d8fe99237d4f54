// The server over TLS: what it insists on and what it survives.
#include "unit/net/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace millwright::net::test {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

void expect_alive_over_tls(const Site& site) {
  TlsWire wire(site.port(), {});
  EXPECT_TRUE(wire.connected());
  EXPECT_THAT(wire.get("/"), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(Tls, OnlyVersions12And13AreSpoken) {
  const Site site(echo(), Site::tls());
  struct Case {
    int version;
    const char* spoken;  // nullptr: refused
  };
  for (const Case& c : {Case{TLS1_VERSION, nullptr}, Case{TLS1_1_VERSION, nullptr},
                        Case{TLS1_2_VERSION, "TLSv1.2"}, Case{TLS1_3_VERSION, "TLSv1.3"}}) {
    TlsWire wire(site.port(), {.min_version = c.version, .max_version = c.version});
    EXPECT_EQ(wire.connected(), c.spoken != nullptr) << c.version;
    if (c.spoken != nullptr) {
      EXPECT_EQ(wire.version(), c.spoken);
      EXPECT_THAT(wire.get("/"), StartsWith("HTTP/1.1 200 OK\r\n"));
    }
  }
}

TEST(Tls, HttpIsNegotiatedWhereOffered) {
  const Site site(echo(), Site::tls());
  struct Case {
    std::vector<std::string> offered;
    const char* chosen;
  };
  for (const Case& c : {Case{{}, ""}, Case{{"http/1.1"}, "http/1.1"},
                        Case{{"h2", "http/1.1"}, "http/1.1"}, Case{{"h2"}, ""}}) {
    TlsWire wire(site.port(), {.alpn = c.offered});
    EXPECT_TRUE(wire.connected());
    EXPECT_EQ(wire.alpn(), c.chosen);
    EXPECT_THAT(wire.get("/"), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
}

TEST(Tls, PlainHttpIsToldSo) {
  const Site site(echo(), Site::tls());
  Wire wire(site.port());
  ASSERT_TRUE(wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_THAT(wire.read_answer(), AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("HTTPS")));
  wire.finish_sending();
  EXPECT_EQ(wire.read_all(), "");
  expect_alive_over_tls(site);
}

// The first flight of a real client, for cutting and spoiling.
std::string client_hello() {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = SSL_new(context);
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl, in, out);
  SSL_connect(ssl);
  char* data = nullptr;
  const long size = BIO_get_mem_data(out, &data);
  std::string hello(data, static_cast<std::size_t>(size));
  SSL_free(ssl);
  SSL_CTX_free(context);
  return hello;
}

TEST(Tls, HalfAHandshakeIsDroppedAtTheDeadline) {
  ServerOptions options = Site::tls();
  options.header_timeout = milliseconds(50);
  const Site site(echo(), options);
  const std::string hello = client_hello();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{5}, hello.size() / 2, hello.size()}) {
    Wire wire(site.port());
    ASSERT_TRUE(wire.send(hello.substr(0, size)));
    wire.read_all();  // returns when the server has closed
  }
}

TEST(Tls, SpoiledHandshakesAreSurvived) {
  const Site site(echo(), Site::tls());
  const std::string hello = client_hello();
  for (std::size_t at = 0; at < hello.size(); at += 7) {
    std::string spoiled = hello;
    spoiled[at] = static_cast<char>(spoiled[at] ^ 0x55);
    Wire wire(site.port());
    wire.send(spoiled);
    wire.finish_sending();
    wire.read_all();
  }
  for (std::size_t size = 0; size < hello.size(); size += 11) {
    Wire wire(site.port());
    wire.send(hello.substr(0, size));
    wire.reset();
  }
  expect_alive_over_tls(site);
}

TEST(Tls, ClientsWithoutTheRightCertificateAreRefused) {
  const Site site(echo(), Site::tls(), server_identity(identities().ca.certificate_pem));
  struct Case {
    const char* what;
    certs::KeyPair client;
    bool served;
  };
  const std::vector<Case> cases{{"none", {}, false},
                                {"right", identities().client, true},
                                {"foreign", identities().foreign_client, false},
                                {"a server's", identities().server, false}};
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    for (const Case& c : cases) {
      // With TLS 1.3 the client believes to be connected before the server has judged it.
      TlsWire wire(site.port(),
                   {.min_version = version, .max_version = version, .client = c.client});
      EXPECT_EQ(wire.connected() && !wire.get("/").empty(), c.served) << c.what;
    }
  }
}

TEST(Tls, AnUnreadableIdentityIsInvalidAndNotServed) {
  const TlsIdentity good = server_identity();
  struct Case {
    const char* what;
    TlsIdentity identity;
    const char* message;
  };
  const std::vector<Case> cases{
      {"nothing", {}, "certificate_pem holds no readable certificate"},
      {"no key", {good.certificate_pem, "", ""}, "key_pem holds no readable private key"},
      {"other key", {good.certificate_pem, identities().ca.key_pem, ""}, "does not belong"},
      {"bad client CA", {good.certificate_pem, good.key_pem, "x"}, "client_ca_pem"},
  };
  const Site site(echo(), Site::tls());
  for (const Case& c : cases) {
    const auto started = Server::start({}, echo(), c.identity);
    ASSERT_FALSE(started) << c.what;
    EXPECT_EQ(started.error().kind, base::ErrorKind::Invalid) << c.what;
    EXPECT_THAT(started.error().message, HasSubstr(c.message)) << c.what;
  }
}

TEST(Tls, ABadIdentityLeavesTheOldOneInPlace) {
  Site site(echo(), Site::tls());
  EXPECT_FALSE(site.server().set_identity({"x", "y", ""}));
  expect_alive_over_tls(site);
}

TEST(Tls, APlainServerHasNoIdentityToChange) {
  Site site(echo(), Site::plain());
  const auto changed = site.server().set_identity(server_identity());
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().kind, base::ErrorKind::Invalid);
}

TEST(Tls, NewConnectionsUseTheNewIdentityAndOldOnesGoOn) {
  Site site(echo(), Site::tls());
  TlsWire before(site.port(), {});
  const std::string old_serial = before.peer_serial();
  ASSERT_TRUE(site.server().set_identity(
      {identities().renewed.certificate_pem, identities().renewed.key_pem, ""}));
  TlsWire after(site.port(), {});
  EXPECT_NE(after.peer_serial(), old_serial);
  EXPECT_THAT(before.get("/"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(after.get("/"), StartsWith("HTTP/1.1 200"));
}

TEST(Tls, NoCallFailsWhileTheIdentityChangesUnderLoad) {
  ServerOptions options = Site::tls();
  options.threads = 2;
  Site site(echo(), options);
  std::atomic<int> failed{0};
  std::atomic<int> running{4};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      base::RealLoop loop;
      for (int j = 0; j < 10; ++j) {
        // A client of its own per round: so both new and kept connections are under test.
        const auto client = make_client(loop, {.ca_pem = identities().ca.certificate_pem});
        for (int k = 0; k < 3; ++k) {
          const auto answer = client->send_blocking({.url = site.url()});
          failed += answer && answer->status == 200 ? 0 : 1;
        }
      }
      --running;
    });
  }
  for (int i = 0; running > 0; ++i) {
    const auto& next = i % 2 == 0 ? identities().renewed : identities().server;
    EXPECT_TRUE(site.server().set_identity({next.certificate_pem, next.key_pem, ""}));
    std::this_thread::yield();
  }
  for (auto& client : clients) {
    client.join();
  }
  EXPECT_EQ(failed, 0);
}

TEST(Tls, LargeBodiesAndStreamsPassUnharmed) {
  std::string body(5'000'011, 'x');
  for (std::size_t i = 0; i < body.size(); i += 777) {
    body[i] = static_cast<char>('a' + i / 777 % 26);
  }
  const Site site(echo(), Site::tls());
  base::RealLoop loop;
  const auto client = make_client(loop, {.ca_pem = identities().ca.certificate_pem});
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->send_blocking({.method = "POST", .url = site.url(), .body = body});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->body == body);
  }
}

TEST(Tls, StoppingSaysGoodbye) {
  Site site(echo(), Site::tls());
  TlsWire wire(site.port(), {});
  EXPECT_THAT(wire.get("/"), StartsWith("HTTP/1.1 200"));
  site.server().stop(kPatience);
  EXPECT_EQ(wire.get("/"), "");
}

}  // namespace
}  // namespace millwright::net::test
