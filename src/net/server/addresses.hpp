// The addresses of a server and of its callers, whichever of IPv4 and IPv6 the system speaks.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/system/errc.hpp>
#include <boost/system/error_code.hpp>

#include <optional>

namespace millwright::net {

// "::" is every address, IPv4's included. Where it cannot be had because there is no IPv6, every
// address is 0.0.0.0; nothing, where another was asked for or something else is wrong. `opened`:
// there was a socket of IPv6. What keeps a program from having one, such as a seccomp profile, may
// say anything; where there is one, the system may have no address for it.
inline std::optional<boost::asio::ip::address> without_ipv6(const boost::asio::ip::address& wanted,
                                                            const boost::system::error_code& why,
                                                            bool opened) {
  const bool none = !opened || why == boost::system::errc::address_family_not_supported ||
                    why == boost::system::errc::address_not_available;
  if (!why || !none || !wanted.is_v6() || !wanted.is_unspecified()) {
    return std::nullopt;
  }
  return boost::asio::ip::address_v4::any();
}

// A caller's address as it is known everywhere else: a socket for both families shows 10.0.0.7 as
// ::ffff:10.0.0.7.
inline boost::asio::ip::address plain_address(const boost::asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) {
    return address;
  }
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
}

}  // namespace millwright::net
