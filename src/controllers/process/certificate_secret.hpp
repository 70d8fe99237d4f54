// A certificate bundle as a kubernetes.io/tls Secret.
#pragma once

#include "millwright/certs/certs.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>

namespace millwright::controllers {

// ca.crt holds every CA that is to be trusted now, the one that signs first: whoever copies it
// during a change of CA trusts both. client.crt and client.key are kube-scheduler's.
boost::json::value to_secret(const certs::Bundle& bundle, const std::string& namespace_,
                             const std::string& name, base::TimePoint now);
// nullopt when a part is missing or unreadable: the bundle is then made anew. The client's may be
// missing, as it is in a Secret of an earlier version.
std::optional<certs::Bundle> from_secret(const boost::json::value& secret);

// Whether somebody else keeps this Secret and it must not be written: cert-manager, by its
// annotation, or whoever put a certificate and its key there without the field ca.key. Ours has
// that field, if an empty one.
bool is_supplied(const boost::json::value& secret);
// Invalid without tls.crt and tls.key. The CA's certificates are those of ca.crt; without it
// there are none.
base::Result<certs::Bundle> supplied_bundle(const boost::json::value& secret);

}  // namespace millwright::controllers
