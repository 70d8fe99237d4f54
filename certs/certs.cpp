// What the Secret should hold next. A change of CA takes an overlap: first both CAs are trusted
// while the old leaf is still served, so that every caBundle has time to follow; at half of the
// overlap the leaf changes; at its end the old CA goes.
#include "millwright/certs/certs.hpp"

#include "certs/certificate.hpp"

#include <openssl/x509v3.h>

#include <algorithm>

namespace millwright::certs {
namespace {

using base::Duration;
using base::ErrorKind;
using base::fail;
using base::Result;
using base::TimePoint;

// Whole seconds: what certificates and Secrets can say.
TimePoint to_seconds(TimePoint time) {
  return std::chrono::floor<std::chrono::seconds>(time);
}

Result<> check(const Policy& policy) {
  if (policy.leaf_life <= Duration::zero() || policy.overlap < Duration::zero()) {
    return fail(ErrorKind::Invalid,
                "certificate policy: leaf life must be positive and the overlap not negative");
  }
  if (policy.ca_life <= 2 * policy.leaf_life) {
    return fail(ErrorKind::Invalid, "certificate policy: a CA's life (" +
                                        base::format_go_duration(policy.ca_life) +
                                        ") must be longer than two leaf lives (" +
                                        base::format_go_duration(2 * policy.leaf_life) + ")");
  }
  return {};
}

Names names_wanted(const Policy& policy) {
  Names names{policy.dns_names, {}};
  for (const std::string& text : policy.ip_addresses) {
    names.ip.push_back(canonical_ip(text));
  }
  for (auto* list : {&names.dns, &names.ip}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return names;
}

TimePoint ca_change(const Validity& ca, const Policy& policy) {
  return ca.not_after - 2 * policy.leaf_life;
}
TimePoint leaf_change(const Validity& leaf) {
  return leaf.not_before + (leaf.not_after - leaf.not_before) / 3 * 2;
}
TimePoint leaf_handover(const Bundle& bundle, const Policy& policy) {
  return bundle.previous_ca_until - policy.overlap / 2;
}

bool is_usable_ca(const KeyPair& ca, TimePoint now) {
  const auto certificate = parse_certificate("the CA certificate", ca.certificate_pem);
  const auto key = parse_key("the CA key", ca.key_pem);
  const auto validity = validity_of(ca.certificate_pem);
  return certificate && key && validity && X509_check_ca(certificate->get()) != 0 &&
         X509_check_private_key(certificate->get(), key->get()) == 1 &&
         validity->not_before <= now && now < validity->not_after;
}

bool is_signed_by(const KeyPair& leaf, const KeyPair& ca) {
  const auto certificate = parse_certificate("the certificate", leaf.certificate_pem);
  const auto issuer = parse_certificate("the CA certificate", ca.certificate_pem);
  return certificate && issuer &&
         X509_verify(certificate->get(), X509_get0_pubkey(issuer->get())) == 1;
}

bool leaf_is_due(const Bundle& bundle, const Policy& policy, TimePoint now) {
  if (!verify(bundle.leaf, bundle.trust_pem(now), {}, now)) {
    return true;
  }
  const auto certificate = parse_certificate("the certificate", bundle.leaf.certificate_pem);
  const auto validity = validity_of(bundle.leaf.certificate_pem);
  if (!certificate || !validity || leaf_change(*validity) <= now ||
      names_of(**certificate) != names_wanted(policy)) {
    return true;
  }
  return !is_signed_by(bundle.leaf, bundle.ca) && leaf_handover(bundle, policy) <= now;
}

bool client_is_due(const Bundle& bundle, TimePoint now) {
  const auto certificate =
      parse_certificate("the client certificate", bundle.client.certificate_pem);
  const auto key = parse_key("the client certificate's key", bundle.client.key_pem);
  const auto validity = validity_of(bundle.client.certificate_pem);
  return !certificate || !key || !validity || validity->not_after <= now ||
         X509_check_private_key(certificate->get(), key->get()) != 1 ||
         !is_signed_by(bundle.client, bundle.ca);
}

Result<> renew_ca(Bundle& bundle, const Policy& policy, TimePoint now) {
  const Validity validity{now - policy.backdate, now + policy.ca_life};
  MW_TRY(ca, make_ca(policy.common_name + "-ca", validity));
  // Even when its key was lost, what the old CA signed may still be served by another replica.
  const auto old = parse_certificate("the CA certificate", bundle.ca.certificate_pem);
  if (old && X509_check_ca(old->get()) != 0) {
    bundle.previous_ca_pem = std::move(bundle.ca.certificate_pem);
    bundle.previous_ca_until = now + policy.overlap;
  }
  bundle.ca = std::move(ca);
  return {};
}

Result<> renew_leaf(Bundle& bundle, const Policy& policy, TimePoint now) {
  MW_TRY(ca, validity_of(bundle.ca.certificate_pem));
  const Validity validity{std::max(now - policy.backdate, ca.not_before),
                          std::min(now + policy.leaf_life, ca.not_after)};
  MW_TRY(leaf,
         make_leaf(bundle.ca, policy.common_name, policy.dns_names, policy.ip_addresses, validity));
  bundle.leaf = std::move(leaf);
  return {};
}

Result<> renew_client(Bundle& bundle, const Policy& policy, TimePoint now) {
  MW_TRY(ca, validity_of(bundle.ca.certificate_pem));
  const Validity validity{std::max(now - policy.backdate, ca.not_before), ca.not_after};
  MW_TRY(client, make_client_leaf(bundle.ca, policy.client_name, {}, validity));
  bundle.client = std::move(client);
  return {};
}

std::string with_line_end(std::string pem) {
  if (!pem.empty() && pem.back() != '\n') {
    pem.push_back('\n');
  }
  return pem;
}

}  // namespace

std::string Bundle::trust_pem(TimePoint now) const {
  std::string trust = with_line_end(ca.certificate_pem);
  if (!previous_ca_pem.empty() && now < previous_ca_until) {
    trust += with_line_end(previous_ca_pem);
  }
  return trust;
}

Result<Bundle> reconcile(const std::optional<Bundle>& stored, const Policy& policy,
                         TimePoint time) {
  auto allowed = check(policy);
  if (!allowed) {
    return tl::unexpected(std::move(allowed).error());
  }
  const TimePoint now = to_seconds(time);
  Bundle bundle = stored.value_or(Bundle{});
  if (!bundle.previous_ca_pem.empty() &&
      (bundle.previous_ca_until <= now ||
       !parse_certificate("the previous CA", bundle.previous_ca_pem))) {
    bundle.previous_ca_pem.clear();
    bundle.previous_ca_until = {};
  }
  const auto ca = validity_of(bundle.ca.certificate_pem);
  if (!ca || !is_usable_ca(bundle.ca, now) || ca_change(*ca, policy) <= now) {
    auto renewed = renew_ca(bundle, policy, now);
    if (!renewed) {
      return tl::unexpected(std::move(renewed).error());
    }
  }
  if (leaf_is_due(bundle, policy, now)) {
    auto renewed = renew_leaf(bundle, policy, now);
    if (!renewed) {
      return tl::unexpected(std::move(renewed).error());
    }
  }
  if (client_is_due(bundle, now)) {
    auto renewed = renew_client(bundle, policy, now);
    if (!renewed) {
      return tl::unexpected(std::move(renewed).error());
    }
  }
  return bundle;
}

}  // namespace millwright::certs
