#include "millwright/controllers/process/certificates.hpp"

#include "controllers/process/certificate_secret.hpp"
#include "millwright/base/base64.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::controllers {
namespace {

namespace json = boost::json;

constexpr auto kCertificateRetry = std::chrono::seconds(5);

}  // namespace

Certificates::Certificates(kube::Client& client, base::Metrics& metrics, base::Logger log,
                           CertificateOptions options,
                           std::function<void(const certs::Bundle&)> on_bundle)
    : client_(client),
      metrics_(metrics),
      log_(std::move(log)),
      options_(std::move(options)),
      on_bundle_(std::move(on_bundle)) {}

base::Task<void> Certificates::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    auto kept = co_await keep();
    base::Duration pause = options_.look_again;
    if (!kept) {
      log_.warn("keeping the certificates failed, will try again",
                {{"Secret", options_.namespace_ + "/" + options_.secret},
                 {"error", kept.error().message}});
      pause = kCertificateRetry;
    }
    const bool slept = co_await base::sleep(client_.loop(), pause, stop);
    if (!slept) {
      co_return;
    }
  }
}

base::Task<base::Result<certs::Bundle>> Certificates::keep() {
  MW_CO_TRY(secret, co_await read());
  base::Result<certs::Bundle> bundle;
  if (options_.supplied || (secret && is_supplied(*secret))) {
    bundle = take_supplied(secret);
  } else {
    bundle = co_await keep_own(std::move(secret));
  }
  MW_CO_CHECK(bundle);
  MW_CO_CHECK(co_await hand_out(*bundle));
  co_return bundle;
}

base::Task<base::Result<Certificates::Secret>> Certificates::read() {
  const model::ObjectKey key{.namespace_ = options_.namespace_, .name = options_.secret};
  auto secret = co_await client_.get(model::kSecretResource, key);
  if (secret) {
    co_return Secret(*std::move(secret));
  }
  if (secret.error().kind == base::ErrorKind::NotFound) {
    co_return Secret();
  }
  co_return tl::unexpected(std::move(secret).error());
}

base::Result<certs::Bundle> Certificates::take_supplied(const Secret& secret) const {
  if (!secret) {
    return base::fail(base::ErrorKind::NotFound,
                      "the Secret is not there yet; somebody else is to write it, since "
                      "SUPPLIED_CERTIFICATES is set");
  }
  return supplied_bundle(*secret);
}

base::Task<base::Result<certs::Bundle>> Certificates::keep_own(Secret secret) {
  const base::TimePoint now = client_.loop().now();
  // A Secret that somebody deleted is put back: a new CA would be one that nobody trusts yet.
  const auto stored = secret ? from_secret(*secret) : std::nullopt;
  MW_CO_TRY(bundle, certs::reconcile(secret ? stored : current_, options_.policy, now));
  if (stored && *stored == bundle) {
    co_return bundle;
  }
  json::value object = to_secret(bundle, options_.namespace_, options_.secret, now);
  base::Result<json::value> written;
  if (secret) {
    // The lock makes the replicas agree: the loser reads the winner's bundle next time.
    object.at("metadata").as_object()["resourceVersion"] =
        secret->at("metadata").at("resourceVersion");
    written = co_await client_.replace(model::kSecretResource, object);
  } else {
    written = co_await client_.create(model::kSecretResource, object);
  }
  MW_CO_CHECK(std::move(written));
  log_.info("wrote new certificates", {{"Secret", options_.namespace_ + "/" + options_.secret}});
  co_return bundle;
}

base::Task<base::Result<>> Certificates::hand_out(certs::Bundle bundle) {
  if (!current_ || *current_ != bundle) {
    current_ = bundle;
    on_bundle_(bundle);
  }
  if (const auto validity = certs::validity_of(bundle.leaf.certificate_pem)) {
    const std::chrono::duration<double> left = validity->not_after - client_.loop().now();
    metrics_.set("millwright_certificate_expiry_seconds",
                 "Seconds until the serving certificate expires.", {}, left.count());
  }
  const std::string trusted = bundle.trust_pem(client_.loop().now());
  if (trusted.empty()) {
    co_return base::Result<>{};  // a public CA, or one that somebody else injects
  }
  const std::string ca_bundle = base::encode_base64(trusted);
  for (const auto& resource :
       {model::kMutatingWebhookResource, model::kValidatingWebhookResource}) {
    MW_CO_CHECK(co_await inject(resource, ca_bundle));
  }
  co_return base::Result<>{};
}

base::Task<base::Result<>> Certificates::inject(model::Resource resource, std::string ca_bundle) {
  const model::ObjectKey key{.namespace_ = {}, .name = options_.webhook_configuration};
  const auto change = [ca_bundle](const json::value& object) -> std::optional<json::value> {
    const auto* webhooks = object.as_object().if_contains("webhooks");
    if (webhooks == nullptr || !webhooks->is_array()) {
      return std::nullopt;
    }
    json::array next = webhooks->as_array();
    bool changed = false;
    for (auto& webhook : next) {
      auto& config = webhook.as_object()["clientConfig"];
      if (!config.is_object()) {
        continue;
      }
      auto& current = config.as_object()["caBundle"];
      changed = changed || current != json::value(ca_bundle);
      current = ca_bundle;
    }
    if (!changed) {
      return std::nullopt;
    }
    return json::object{{"webhooks", std::move(next)}};
  };
  auto updated = co_await client_.update(resource, key, change);
  if (!updated && updated.error().kind != base::ErrorKind::NotFound) {
    co_return tl::unexpected(std::move(updated).error());
  }
  co_return base::Result<>{};
}

}  // namespace millwright::controllers
