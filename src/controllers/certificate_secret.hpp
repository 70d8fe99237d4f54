// A certificate bundle as a kubernetes.io/tls Secret.
#pragma once

#include "millwright/certs/certs.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>

namespace millwright::controllers {

boost::json::value to_secret(const certs::Bundle& bundle, const std::string& namespace_,
                             const std::string& name);
// nullopt when a part is missing or unreadable: the bundle is then made anew.
std::optional<certs::Bundle> from_secret(const boost::json::value& secret);

}  // namespace millwright::controllers
