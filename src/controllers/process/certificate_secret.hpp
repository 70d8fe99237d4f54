// A certificate bundle as a kubernetes.io/tls Secret.
#pragma once

#include "millwright/certs/certs.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>

namespace millwright::controllers {

// ca.crt holds every CA that is to be trusted now, the one that signs first: whoever copies it
// during a change of CA trusts both.
boost::json::value to_secret(const certs::Bundle& bundle, const std::string& namespace_,
                             const std::string& name, base::TimePoint now);
// nullopt when a part is missing or unreadable: the bundle is then made anew.
std::optional<certs::Bundle> from_secret(const boost::json::value& secret);

}  // namespace millwright::controllers
