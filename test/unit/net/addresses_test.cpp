// A server for IPv4 and IPv6 at once, and for a system that has IPv4 alone.
#include "net/server/addresses.hpp"

#include "unit/net/support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::net::test {
namespace {

namespace errc = boost::system::errc;
using boost::asio::ip::make_address;
using boost::system::error_code;

TEST(Addresses, WithoutIPv6EveryAddressIsEveryOneOfIPv4) {
  for (const auto why : {errc::address_family_not_supported, errc::address_not_available}) {
    const auto other = without_ipv6(make_address("::"), errc::make_error_code(why), true);
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ(other->to_string(), "0.0.0.0");
  }
}

// As a seccomp profile may have it.
TEST(Addresses, WithoutASocketOfIPv6TheyAreThoseOfIPv4WhateverTheSystemSays) {
  for (const auto why : {errc::operation_not_permitted, errc::permission_denied,
                         errc::address_family_not_supported, errc::protocol_not_supported}) {
    const auto other = without_ipv6(make_address("::"), errc::make_error_code(why), false);
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ(other->to_string(), "0.0.0.0");
  }
}

TEST(Addresses, OthersAreNotReplaced) {
  const error_code none = errc::make_error_code(errc::address_not_available);
  for (const bool opened : {true, false}) {
    EXPECT_FALSE(without_ipv6(make_address("::1"), none, opened).has_value());
    EXPECT_FALSE(without_ipv6(make_address("0.0.0.0"), none, opened).has_value());
    EXPECT_FALSE(without_ipv6(make_address("::"), error_code(), opened).has_value());
  }
}

TEST(Addresses, NorAreThoseThatAreTakenOrMayNotBeHad) {
  for (const auto why : {errc::address_in_use, errc::permission_denied}) {
    const auto other = without_ipv6(make_address("::"), errc::make_error_code(why), true);
    EXPECT_FALSE(other.has_value());
  }
}

TEST(Addresses, OfCallersArePlain) {
  EXPECT_EQ(plain_address(make_address("::ffff:10.0.0.7")).to_string(), "10.0.0.7");
  EXPECT_EQ(plain_address(make_address("10.0.0.7")).to_string(), "10.0.0.7");
  EXPECT_EQ(plain_address(make_address("fd00::7")).to_string(), "fd00::7");
}

// Also where this test runs without IPv6.
TEST(Server, OnEveryAddressIsReachedByIPv4AndKnowsItsCallersByIt) {
  ServerOptions options = Site::plain();
  options.address = "::";
  const Site site(
      [](const Request&, const std::shared_ptr<Exchange>& exchange) {
        exchange->respond(Response::text(200, exchange->peer()));
      },
      std::move(options));
  Wire wire(site.port());
  ASSERT_TRUE(wire.send(kGet));
  EXPECT_THAT(wire.read_answer(), testing::EndsWith("\r\n\r\n127.0.0.1"));
}

TEST(Server, BindingEveryAddressTwiceFailsWithTheOneThatWasTriedLast) {
  ServerOptions options = Site::plain();
  options.address = "::";
  const Site site(echo(), options);
  options.port = site.port();
  const auto second = Server::start(options, echo());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::ErrorKind::Unavailable);
  const std::string port = ":" + std::to_string(site.port()) + ":";
  EXPECT_THAT(second.error().message, testing::AnyOf(testing::HasSubstr("[::]" + port),
                                                     testing::HasSubstr("0.0.0.0" + port)));
}

}  // namespace
}  // namespace millwright::net::test
