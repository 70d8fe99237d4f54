#include "sandbox/whatif/snapshot.hpp"

#include "millwright/model/codec.hpp"
#include "support/virtual_cluster.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <stdexcept>

namespace millwright::test {
namespace {

namespace json = boost::json;

void create_all(sandbox::ApiServer& api, const std::string& yaml) {
  const auto documents = model::parse_yaml(yaml).value();
  for (const auto& document : documents) {
    const auto* resource = model::find_by_kind(model::text_at(document, "apiVersion"),
                                               model::text_at(document, "kind"));
    if (const auto created = api.create(*resource, document); !created) {
      throw std::runtime_error(created.error().message);
    }
  }
}

}  // namespace

std::string pool_yaml(const std::string& extra, const std::string& template_extra) {
  return fmt::format(R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  disruption: {{consolidateAfter: 30s, consolidationPolicy: WhenEmptyOrUnderutilized}}
{}
  template:
    spec:
      nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}
      requirements:
      - {{key: kubernetes.io/os, operator: In, values: [linux]}}
      - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
      - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
{}
)",
                     extra, template_extra);
}

std::string deployment_yaml(int replicas, const std::string& cpu, const std::string& pod_spec) {
  return fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: {}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
{}
      containers: [{{name: main, image: main, resources: {{requests: {{cpu: "{}"}}}}}}]
)",
                     replicas, pod_spec, cpu);
}

std::string snapshot_of(const std::string& yaml, cloud::Profile profile) {
  app::EmbeddedOptions options;
  options.profiles = {profile};
  VirtualCluster cluster(std::move(options));
  auto& api = cluster.cluster->world().api();
  create_all(api, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}");
  if (profile == cloud::Profile::Kwok) {
    create_all(api,
               "{apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, "
               "metadata: {name: default}}");
  }
  create_all(api, yaml);
  cluster.loop.run_for(std::chrono::minutes(15));
  json::array items;
  for (const auto& resource : model::all_resources()) {
    for (const auto& object : api.list(resource)) {
      items.push_back(*object);
    }
  }
  return json::serialize(
      json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}});
}

}  // namespace millwright::test
