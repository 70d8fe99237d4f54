// Making certificates: EC P-256 keys, SHA-256 signatures, random 127-bit serial numbers.
#include "certs/certificate.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

namespace millwright::certs {
namespace {

using base::ErrorKind;
using base::fail;
using base::Result;

// X.520's bound of a common name.
constexpr std::size_t kCommonNameLimit = 64;
constexpr std::size_t kDnsNameLimit = 253;

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
  void operator()(GENERAL_NAME* name) const { GENERAL_NAME_free(name); }
};
using AltNames = std::unique_ptr<GENERAL_NAMES, FreeNames>;
using AltName = std::unique_ptr<GENERAL_NAME, FreeNames>;

struct Spec {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  Validity validity;
  bool is_ca = false;
  const char* key_usage = "critical,digitalSignature";
  const char* extended_usage = nullptr;
};

struct Issuer {
  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
};

bool is_dns_name(std::string_view name) {
  return !name.empty() && name.size() <= kDnsNameLimit &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.' || c == '_' || c == '*';
         });
}

Result<> check(const Spec& spec) {
  if (spec.common_name.empty() || spec.common_name.size() > kCommonNameLimit) {
    return fail(ErrorKind::Invalid, "certificate common name \"" + spec.common_name +
                                        "\": must have 1 to 64 characters");
  }
  if (spec.validity.not_after <= spec.validity.not_before) {
    return fail(ErrorKind::Invalid,
                "certificate \"" + spec.common_name + "\": it must end after it begins");
  }
  return {};
}

bool set_time(ASN1_TIME* field, base::TimePoint time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  return ASN1_TIME_set(field, seconds) != nullptr;
}

bool set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return false;
  }
  bytes.front() = static_cast<unsigned char>((bytes.front() & 0x7FU) | 0x40U);
  BIGNUM* number = BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
  const bool set = number != nullptr &&
                   BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return set;
}

bool add_to_subject(X509_NAME* subject, const char* field, const std::string& text) {
  const auto* bytes = static_cast<const unsigned char*>(static_cast<const void*>(text.data()));
  return X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8, bytes,
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

bool set_subject(X509* certificate, const Spec& spec) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  for (const std::string& organization : spec.organizations) {
    if (!add_to_subject(subject, "O", organization)) {
      return false;
    }
  }
  return add_to_subject(subject, "CN", spec.common_name);
}

bool add_extension(X509* certificate, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
  const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// Built from objects, not from OpenSSL's configuration text, in which a comma would be syntax.
Result<> add_names(X509* certificate, const Spec& spec) {
  const AltNames names(GENERAL_NAMES_new());
  const auto push = [&](AltName name) { sk_GENERAL_NAME_push(names.get(), name.release()); };
  for (const std::string& text : spec.dns_names) {
    if (!is_dns_name(text)) {
      return fail(ErrorKind::Invalid,
                  "certificate \"" + spec.common_name + "\": \"" + text + "\" is not a DNS name");
    }
    ASN1_IA5STRING* value = ASN1_IA5STRING_new();
    ASN1_STRING_set(value, text.data(), static_cast<int>(text.size()));
    AltName name(GENERAL_NAME_new());
    GENERAL_NAME_set0_value(name.get(), GEN_DNS, value);
    push(std::move(name));
  }
  for (const std::string& text : spec.ip_addresses) {
    ASN1_OCTET_STRING* value = a2i_IPADDRESS(text.c_str());
    if (value == nullptr) {
      ERR_clear_error();
      return fail(ErrorKind::Invalid, "certificate \"" + spec.common_name + "\": \"" + text +
                                          "\" is not an IP address");
    }
    AltName name(GENERAL_NAME_new());
    GENERAL_NAME_set0_value(name.get(), GEN_IPADD, value);
    push(std::move(name));
  }
  if (sk_GENERAL_NAME_num(names.get()) > 0 &&
      X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) != 1) {
    return openssl_failure(ErrorKind::Internal, "cannot add names to a certificate");
  }
  return {};
}

// Self-signed when `issuer` is empty.
Result<KeyPair> issue(const Spec& spec, Issuer issuer) {
  MW_TRY(checked, check(spec).transform([] { return true; }));
  static_cast<void>(checked);
  ERR_clear_error();
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) {
    return openssl_failure(ErrorKind::Internal, "cannot make a key");
  }
  X509* made = certificate.get();
  if (issuer.key == nullptr) {
    issuer = {made, key.get()};
  }
  bool done = X509_set_version(made, X509_VERSION_3) == 1 && set_serial(made) &&
              set_time(X509_getm_notBefore(made), spec.validity.not_before) &&
              set_time(X509_getm_notAfter(made), spec.validity.not_after) &&
              X509_set_pubkey(made, key.get()) == 1 && set_subject(made, spec) &&
              X509_set_issuer_name(made, X509_get_subject_name(issuer.certificate)) == 1 &&
              add_extension(made, issuer.certificate, NID_basic_constraints,
                            spec.is_ca ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") &&
              add_extension(made, issuer.certificate, NID_key_usage, spec.key_usage) &&
              add_extension(made, issuer.certificate, NID_subject_key_identifier, "hash");
  if (done && !spec.is_ca) {
    done = add_extension(made, issuer.certificate, NID_authority_key_identifier, "keyid:always") &&
           add_extension(made, issuer.certificate, NID_ext_key_usage, spec.extended_usage);
  }
  if (!done) {
    return openssl_failure(ErrorKind::Internal,
                           "cannot make the certificate \"" + spec.common_name + "\"");
  }
  auto named = add_names(made, spec);
  if (!named) {
    return tl::unexpected(std::move(named).error());
  }
  if (X509_sign(made, issuer.key, EVP_sha256()) == 0) {
    return openssl_failure(ErrorKind::Internal,
                           "cannot sign the certificate \"" + spec.common_name + "\"");
  }
  MW_TRY(certificate_pem, to_pem(*certificate));
  MW_TRY(key_pem, to_pem(*key));
  return KeyPair{std::move(certificate_pem), std::move(key_pem)};
}

Result<KeyPair> issue_by(const KeyPair& ca, const Spec& spec) {
  MW_TRY(certificate, parse_certificate("the CA certificate", ca.certificate_pem));
  MW_TRY(key, parse_key("the CA key", ca.key_pem));
  if (X509_check_ca(certificate.get()) == 0) {
    return fail(ErrorKind::Invalid, "the CA certificate is not that of a CA");
  }
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return openssl_failure(ErrorKind::Invalid, "the CA key does not belong to the CA certificate");
  }
  return issue(spec, {certificate.get(), key.get()});
}

}  // namespace

Result<KeyPair> make_ca(const std::string& common_name, Validity validity) {
  return issue({.common_name = common_name,
                .validity = validity,
                .is_ca = true,
                .key_usage = "critical,keyCertSign,cRLSign"},
               {});
}

Result<KeyPair> make_leaf(const KeyPair& ca, const std::string& common_name,
                          const std::vector<std::string>& dns_names,
                          const std::vector<std::string>& ip_addresses, Validity validity) {
  if (dns_names.empty() && ip_addresses.empty()) {
    return fail(ErrorKind::Invalid, "certificate \"" + common_name +
                                        "\": a server needs at least one DNS name or IP address");
  }
  return issue_by(ca, {.common_name = common_name,
                       .dns_names = dns_names,
                       .ip_addresses = ip_addresses,
                       .validity = validity,
                       .extended_usage = "serverAuth"});
}

Result<KeyPair> make_client_leaf(const KeyPair& ca, const std::string& common_name,
                                 const std::vector<std::string>& organizations, Validity validity) {
  return issue_by(ca, {.common_name = common_name,
                       .organizations = organizations,
                       .validity = validity,
                       .extended_usage = "clientAuth"});
}

Result<Validity> validity_of(const std::string& certificate_pem) {
  MW_TRY(certificate, parse_certificate("the certificate", certificate_pem));
  MW_TRY(not_before, to_time(X509_get0_notBefore(certificate.get())));
  MW_TRY(not_after, to_time(X509_get0_notAfter(certificate.get())));
  return Validity{not_before, not_after};
}

}  // namespace millwright::certs
