#include "certs/certificate.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace millwright::certs {
namespace {

using base::ErrorKind;
using base::fail;
using base::Result;

struct FreeStore {
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
  void operator()(X509_STORE_CTX* context) const { X509_STORE_CTX_free(context); }
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};
using Store = std::unique_ptr<X509_STORE, FreeStore>;
using StoreContext = std::unique_ptr<X509_STORE_CTX, FreeStore>;
using Stack = std::unique_ptr<STACK_OF(X509), FreeStore>;

std::string explain(int code, base::TimePoint now) {
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "it has expired (checked at " + base::format_rfc3339(now) + ")";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "it is not valid yet (checked at " + base::format_rfc3339(now) + ")";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "it is not signed by any of the CAs given";
    default:
      return X509_verify_cert_error_string(code);
  }
}

Result<> verify_chain(const std::vector<Certificate>& chain, const std::vector<Certificate>& cas,
                      base::TimePoint now) {
  const Store store(X509_STORE_new());
  const StoreContext context(X509_STORE_CTX_new());
  const Stack untrusted(sk_X509_new_null());
  if (!store || !context || !untrusted) {
    return openssl_failure(ErrorKind::Internal, "cannot verify a certificate");
  }
  for (const Certificate& ca : cas) {
    X509_STORE_add_cert(store.get(), ca.get());
  }
  for (const Certificate& certificate : chain) {
    sk_X509_push(untrusted.get(), certificate.get());
  }
  X509_STORE_CTX_init(context.get(), store.get(), chain.front().get(), untrusted.get());
  X509_VERIFY_PARAM* rules = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(
      rules, std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  // Any certificate in the bundle is trusted, root or not, as Go's certificate pools have it.
  X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_SSL_SERVER);
  if (X509_verify_cert(context.get()) != 1) {
    const int code = X509_STORE_CTX_get_error(context.get());
    ERR_clear_error();
    return fail(ErrorKind::Invalid, "the certificate cannot be used: " + explain(code, now));
  }
  return {};
}

}  // namespace

Result<> verify(const KeyPair& leaf, const std::string& ca_bundle_pem,
                const std::vector<std::string>& dns_names, base::TimePoint now) {
  MW_TRY(chain, parse_bundle("the certificate", leaf.certificate_pem));
  MW_TRY(key, parse_key("the certificate's key", leaf.key_pem));
  MW_TRY(cas, parse_bundle("the CA bundle", ca_bundle_pem));
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    return openssl_failure(ErrorKind::Invalid, "the key does not belong to the certificate");
  }
  auto verified = verify_chain(chain, cas, now);
  if (!verified) {
    return verified;
  }
  for (const std::string& name : dns_names) {
    if (X509_check_host(chain.front().get(), name.data(), name.size(), 0, nullptr) != 1) {
      ERR_clear_error();
      return fail(ErrorKind::Invalid,
                  "the certificate cannot be used: it does not name \"" + name + "\"");
    }
  }
  return {};
}

}  // namespace millwright::certs
