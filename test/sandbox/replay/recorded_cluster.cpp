#include "sandbox/replay/recorded_cluster.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <stdexcept>

namespace millwright::test {
namespace {

constexpr const char* kCluster = R"(
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, metadata: {name: machines}}
)";

class CountingTransport final : public kube::Transport {
 public:
  CountingTransport(std::shared_ptr<kube::Transport> inner, int& writes, const bool& token_expired)
      : inner_(std::move(inner)), writes_(writes), token_expired_(token_expired) {}
  base::Task<base::Result<net::Response>> call(kube::ApiRequest request,
                                               std::stop_token stop) override {
    writes_ += request.method == "GET" ? 0 : 1;
    if (token_expired_) {
      return unauthorized();
    }
    return inner_->call(std::move(request), std::move(stop));
  }
  base::Task<base::Result<net::Response>> stream(kube::ApiRequest request,
                                                 std::function<void(std::string_view)> on_chunk,
                                                 std::stop_token stop) override {
    writes_ += request.method == "GET" ? 0 : 1;
    if (token_expired_) {
      return unauthorized();
    }
    return inner_->stream(std::move(request), std::move(on_chunk), std::move(stop));
  }

 private:
  static base::Task<base::Result<net::Response>> unauthorized() {
    co_return net::Response::json(401,
                                  R"({"kind":"Status","status":"Failure","message":"Unauthorized",)"
                                  R"("reason":"Unauthorized","code":401})");
  }

  std::shared_ptr<kube::Transport> inner_;
  int& writes_;
  const bool& token_expired_;
};

app::EmbeddedOptions embedded_options(const RecordedOptions& recorded) {
  app::EmbeddedOptions options;
  options.profiles = {cloud::Profile::Kwok};
  auto settings = cloud::default_settings(cloud::Profile::Kwok);
  settings.boot = recorded.boot;
  options.settings.emplace(cloud::Profile::Kwok, std::move(settings));
  options.world.kubelet = recorded.kubelet;
  return options;
}

base::Task<void> record_to(app::ClusterRecording& recording, std::stop_token stop,
                           std::optional<base::Result<app::RecordingOutcome>>& outcome) {
  auto ended = co_await recording.run(std::move(stop));
  outcome = std::move(ended);
}

}  // namespace

RecordedCluster::RecordedCluster(const RecordedOptions& options)
    : options_(options), cluster_(embedded_options(options)), group_(cluster_.loop) {
  create(kCluster);
  create(general_pool(
      "disruption: {consolidateAfter: 30s, consolidationPolicy: WhenEmptyOrUnderutilized}"));
}

std::string general_pool(const std::string& more) {
  return R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  )" + more +
         R"(
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: machines}
      requirements:
      - {key: kubernetes.io/os, operator: In, values: [linux]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
)";
}

RecordedCluster::~RecordedCluster() {
  end_recording();
}

void RecordedCluster::create(const std::string& yaml) {
  const auto documents = model::parse_yaml(yaml).value();
  for (const auto& document : documents) {
    const auto* resource = model::find_by_kind(model::text_at(document, "apiVersion"),
                                               model::text_at(document, "kind"));
    if (const auto created = api().create(*resource, document); !created) {
      throw std::runtime_error(created.error().message);
    }
  }
}

void RecordedCluster::deploy(int replicas, const std::string& cpu) {
  create(fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  annotations: {{kubectl.kubernetes.io/last-applied-configuration: word-of-kubectl}}
spec:
  replicas: {}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: main
        image: registry.example.com/word-of-image
        command: [word-of-command]
        args: [word-of-args]
        env: [{{name: TOKEN, value: word-of-env}}]
        resources: {{requests: {{cpu: "{}"}}}}
)",
                     replicas, cpu));
}

void RecordedCluster::scale(int replicas) {
  change(model::kDeploymentResource, {"shop", "web"},
         [&](boost::json::value& object) { object.at("spec").as_object()["replicas"] = replicas; });
}

void RecordedCluster::change(const model::Resource& resource, const model::ObjectKey& key,
                             const std::function<void(boost::json::value&)>& change) {
  if (const auto changed = api().update(resource, key, change); !changed) {
    throw std::runtime_error(changed.error().message);
  }
}

void RecordedCluster::begin_recording() {
  api().set_faults(options_.faults);
  client_ = std::make_unique<kube::Client>(cluster_.loop, counting_transport());
  std::optional<app::NameHash> names;
  if (options_.hide_names) {
    names = app::NameHash("key of names");
  }
  recording_ = std::make_unique<app::ClusterRecording>(app::RecordingParts{
      .client = *client_,
      .redaction = app::Redaction(app::NameHash("key of digests"), std::move(names)),
      .write = [this](std::string_view line) -> base::Result<> {
        text_ += line;
        return {};
      },
      .duration = options_.duration,
      .most_bytes = options_.most_bytes,
      .seed = 1,
      .log = {}});
  group_.spawn(record_to(*recording_, stop_.get_token(), outcome_));
  cluster_.loop.run_for(std::chrono::seconds(5));
}

std::shared_ptr<kube::Transport> RecordedCluster::counting_transport() {
  return std::make_shared<CountingTransport>(sandbox::in_process_transport(api()), writes_,
                                             token_expired_);
}

std::string RecordedCluster::end_recording() {
  if (recording_ && !outcome_) {
    stop_.request_stop();
    cluster_.loop.run_until([this] { return outcome_.has_value(); }, std::chrono::minutes(1));
  }
  return text_;
}

}  // namespace millwright::test
