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
    const auto other = without_ipv6(make_address("::"), errc::make_error_code(why));
    ASSERT_TRUE(other.has_value());
    EXPECT_EQ(other->to_string(), "0.0.0.0");
  }
}

TEST(Addresses, OthersAreNotReplaced) {
  const error_code none = errc::make_error_code(errc::address_not_available);
  const error_code taken = errc::make_error_code(errc::address_in_use);
  EXPECT_FALSE(without_ipv6(make_address("::1"), none).has_value());
  EXPECT_FALSE(without_ipv6(make_address("0.0.0.0"), none).has_value());
  EXPECT_FALSE(without_ipv6(make_address("::"), taken).has_value());
  EXPECT_FALSE(without_ipv6(make_address("::"), error_code()).has_value());
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

}  // namespace
}  // namespace millwright::net::test
