// A CA and what it signs: the server certificate, and the client certificate that kube-scheduler
// shows to the extender. They are renewed automatically: server certificates at two thirds of their
// life, the CA before it is too short for two of them. The client certificate lives as long as its
// CA: a kube-scheduler outside of our hands reads both once, when it starts, and must not lose us
// between two changes of the CA. While the CA changes, the old and the new one are both trusted.
// These functions do no I/O; the caller stores the result.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/time.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace millwright::certs {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
  friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

struct Validity {
  base::TimePoint not_before;
  base::TimePoint not_after;
};

base::Result<KeyPair> make_ca(const std::string& common_name, Validity validity);
// A server certificate for DNS names and IP addresses, signed by `ca`.
base::Result<KeyPair> make_leaf(const KeyPair& ca, const std::string& common_name,
                                const std::vector<std::string>& dns_names,
                                const std::vector<std::string>& ip_addresses, Validity validity);
// A client certificate: kube-scheduler's, and those of kubeconfigs in the sandbox.
base::Result<KeyPair> make_client_leaf(const KeyPair& ca, const std::string& common_name,
                                       const std::vector<std::string>& organizations,
                                       Validity validity);
base::Result<Validity> validity_of(const std::string& certificate_pem);
// Invalid says why: not signed by any of the CAs, expired, wrong names, key does not match.
base::Result<> verify(const KeyPair& leaf, const std::string& ca_bundle_pem,
                      const std::vector<std::string>& dns_names, base::TimePoint now);

// What one Secret holds.
struct Bundle {
  KeyPair ca;
  std::string previous_ca_pem;  // trusted besides `ca` while a CA change is under way
  base::TimePoint previous_ca_until;
  KeyPair leaf;
  KeyPair client;  // of kube-scheduler
  friend bool operator==(const Bundle&, const Bundle&) = default;
  // Both CAs' certificates: what caBundle fields get, and by which clients are known.
  std::string trust_pem(base::TimePoint now) const;
};

struct Policy {
  std::string common_name = "millwright";
  std::string client_name = "kube-scheduler";
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  base::Duration ca_life = std::chrono::hours(24 * 3650);
  base::Duration leaf_life = std::chrono::hours(24 * 90);
  base::Duration overlap = std::chrono::hours(24);  // how long an old CA stays trusted
  base::Duration backdate = std::chrono::minutes(5);
};

// What should be stored now, given what is stored (nullopt or unreadable: start anew). Equal to
// `stored` when nothing is due. The leaf is renewed at 2/3 of its life, or when its names differ
// from the policy's; the CA when less than two leaf lives remain; the client certificate when it is
// absent, unreadable or of another CA. So it changes at once with the CA, and whoever copies it
// together with the CAs that are trusted then has done so for good.
base::Result<Bundle> reconcile(const std::optional<Bundle>& stored, const Policy& policy,
                               base::TimePoint now);

}  // namespace millwright::certs
