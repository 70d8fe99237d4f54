// OpenSSL's objects with owners, and the few conversions that this module needs.
#pragma once

#include "millwright/certs/certs.hpp"

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::certs {

struct FreeOpenSsl {
  void operator()(X509* object) const { X509_free(object); }
  void operator()(EVP_PKEY* object) const { EVP_PKEY_free(object); }
};
using Certificate = std::unique_ptr<X509, FreeOpenSsl>;
using Key = std::unique_ptr<EVP_PKEY, FreeOpenSsl>;

// "what: OpenSSL's reason". Empties OpenSSL's queue of errors.
tl::unexpected<base::Error> openssl_failure(base::ErrorKind kind, std::string_view what);

// Invalid when the text holds no readable certificate or key. `what` names the text.
base::Result<Certificate> parse_certificate(std::string_view what, const std::string& pem);
base::Result<std::vector<Certificate>> parse_bundle(std::string_view what, const std::string& pem);
base::Result<Key> parse_key(std::string_view what, const std::string& pem);

base::Result<std::string> to_pem(const X509& certificate);
base::Result<std::string> to_pem(const EVP_PKEY& key);

base::Result<base::TimePoint> to_time(const ASN1_TIME* time);

// The subject alternative names as text, sorted and without repetition.
struct Names {
  std::vector<std::string> dns;
  std::vector<std::string> ip;
  friend bool operator==(const Names&, const Names&) = default;
};
Names names_of(const X509& certificate);
// The spelling names_of() uses for an address; empty when `text` is no IP address.
std::string canonical_ip(const std::string& text);

}  // namespace millwright::certs
