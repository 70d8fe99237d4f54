#include "sandbox/lifecycle/lifecycle_fixture.hpp"

#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace millwright::test {
namespace {

namespace json = boost::json;

base::Task<void> list_into(cloud::Provider& cloud, std::vector<cloud::Instance>& found,
                           bool& done) {
  auto listed = co_await cloud.list();
  if (listed) {
    found = *std::move(listed);
  }
  done = true;
}

std::string pointer_text(const json::value& object, std::string_view pointer) {
  boost::system::error_code none;
  const auto* found = object.find_pointer(pointer, none);
  if (found == nullptr) {
    return {};
  }
  return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
}

}  // namespace

void LifecycleFixture::start(app::EmbeddedOptions options) {
  options.profiles = {cloud::Profile::Kwok};
  cluster_ = std::make_unique<VirtualCluster>(std::move(options));
}

void LifecycleFixture::apply(const std::string& yaml) {
  const auto documents = model::parse_yaml(yaml);
  ASSERT_TRUE(documents) << documents.error().message << "\n" << yaml;
  for (const auto& document : *documents) {
    const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                               std::string(document.at("kind").as_string()));
    ASSERT_NE(resource, nullptr) << yaml;
    const auto created = api().create(*resource, document);
    ASSERT_TRUE(created) << created.error().message << "\n" << yaml;
  }
}

void LifecycleFixture::apply_class(const std::string& name) {
  apply(fmt::format(
      "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {{name: {}}}\n",
      name));
}

void LifecycleFixture::apply_pool(const PoolText& pool) {
  apply(fmt::format(R"(
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {}}}
spec:
  disruption: {}
{}
  template:
    metadata: {}
    spec:
      nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}
      requirements:
      - {{key: kubernetes.io/os, operator: In, values: [linux]}}
      - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
      - {{key: karpenter.sh/capacity-type, operator: In, values: {}}}
{}
)",
                    pool.name, pool.disruption, pool.extra, pool.template_metadata,
                    pool.capacity_types, pool.template_extra));
}

void LifecycleFixture::deploy(const WorkloadText& workload) {
  apply(fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}, namespace: default}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{app: {0}}}}}
  template:
    metadata:
      labels: {{app: {0}}}
{3}
    spec:
{4}
      containers: [{{name: main, image: main, resources: {{requests: {{cpu: "{2}"}}}}}}]
)",
                    workload.name, workload.replicas, workload.cpu, workload.pod_metadata,
                    workload.pod_spec));
}

void LifecycleFixture::scale(const std::string& deployment, int replicas) {
  change(
      model::kDeploymentResource, deployment,
      [replicas](json::value& object) { object.at("spec").as_object()["replicas"] = replicas; },
      "default");
}

void LifecycleFixture::change(const model::Resource& resource, const std::string& name,
                              const std::function<void(json::value&)>& edit,
                              const std::string& name_space, std::string_view subresource) {
  const auto updated =
      api().update(resource, {.namespace_ = name_space, .name = name}, edit, subresource);
  ASSERT_TRUE(updated) << updated.error().message;
}

void LifecycleFixture::remove(const model::Resource& resource, const std::string& name,
                              const std::string& name_space) {
  const auto removed = api().remove(resource, {.namespace_ = name_space, .name = name});
  ASSERT_TRUE(removed) << removed.error().message;
}

void LifecycleFixture::hide(const std::string& provider_id) {
  cloud().set_listener(nullptr);
  ASSERT_TRUE(cloud().lose(provider_id));
  cloud().set_listener(&cluster_->cluster->world().kubelet());
}

bool LifecycleFixture::wait_running(const std::string& app, std::size_t count,
                                    base::Duration limit) {
  return wait([&] { return running(app) == count && pods(app).size() == count; }, limit);
}

bool LifecycleFixture::wait_instances(std::size_t count, base::Duration limit) {
  for (const auto deadline = now() + limit; now() < deadline; run_for(seconds(5))) {
    if (instances().size() == count) {
      return true;
    }
  }
  return false;
}

bool LifecycleFixture::wait_empty(base::Duration limit) {
  return wait([&] { return claims().empty() && nodes().empty(); }, limit) && instances().empty();
}

std::vector<std::shared_ptr<const model::NodeClaim>> LifecycleFixture::claims() {
  std::vector<std::shared_ptr<const model::NodeClaim>> all;
  for (const auto& [uid, record] : recorder().claims()) {
    if (!record.gone) {
      all.push_back(record.last);
    }
  }
  return all;
}

std::vector<std::shared_ptr<const model::Node>> LifecycleFixture::nodes() {
  std::vector<std::shared_ptr<const model::Node>> all;
  for (const auto& [uid, record] : recorder().nodes()) {
    if (!record.gone) {
      all.push_back(record.last);
    }
  }
  return all;
}

std::vector<std::shared_ptr<const model::Pod>> LifecycleFixture::pods(const std::string& app) {
  std::vector<std::shared_ptr<const model::Pod>> all;
  for (const auto& [uid, record] : recorder().pods()) {
    const auto label = record.last->meta.labels.find("app");
    if (!record.gone && label != record.last->meta.labels.end() && label->second == app) {
      all.push_back(record.last);
    }
  }
  return all;
}

std::size_t LifecycleFixture::running(const std::string& app) {
  std::size_t count = 0;
  for (const auto& [uid, record] : recorder().pods()) {
    const auto label = record.last->meta.labels.find("app");
    count += !record.gone && !record.deleting && record.running &&
                     label != record.last->meta.labels.end() && label->second == app
                 ? 1
                 : 0;
  }
  return count;
}

std::vector<cloud::Instance> LifecycleFixture::instances() {
  std::vector<cloud::Instance> found;
  bool done = false;
  base::TaskGroup group(cluster_->loop);
  group.spawn(list_into(cloud(), found, done));
  EXPECT_TRUE(wait([&] { return done; }));
  return found;
}

std::string LifecycleFixture::inventory() {
  std::string text;
  for (const auto& claim : claims()) {
    text += "NodeClaim " + claim->meta.name + (claim->meta.is_deleting() ? " (deleting)\n" : "\n");
  }
  for (const auto& node : nodes()) {
    text += "Node " + node->meta.name + (node->meta.is_deleting() ? " (deleting)" : "") +
            (model::is_ready(*node) ? "\n" : " (not ready)\n");
  }
  for (const auto& instance : instances()) {
    text += "instance " + instance.provider_id + " of " + instance.node_claim +
            (instance.terminating ? " (terminating)\n" : "\n");
  }
  return text;
}

std::vector<std::string> LifecycleFixture::events(std::string_view reason) {
  std::vector<std::string> messages;
  for (const auto& event : api().list(model::kEventResource)) {
    if (pointer_text(*event, "/reason") == reason) {
      messages.push_back(pointer_text(*event, "/message"));
    }
  }
  return messages;
}

std::vector<LifecycleFixture::EventText> LifecycleFixture::event_texts(std::string_view reason) {
  std::vector<EventText> texts;
  for (const auto& event : api().list(model::kEventResource)) {
    if (pointer_text(*event, "/reason") == reason) {
      texts.push_back({.about = pointer_text(*event, "/involvedObject/kind") + " " +
                                pointer_text(*event, "/involvedObject/name"),
                       .message = pointer_text(*event, "/message"),
                       .count = std::stoi(pointer_text(*event, "/count"))});
    }
  }
  return texts;
}

std::string LifecycleFixture::condition(const model::Resource& resource, const std::string& name,
                                        std::string_view type) {
  const auto object = api().get(resource, {.namespace_ = "", .name = name});
  boost::system::error_code none;
  const auto* conditions = object ? (*object)->find_pointer("/status/conditions", none) : nullptr;
  if (conditions == nullptr) {
    return {};
  }
  for (const auto& each : conditions->as_array()) {
    if (pointer_text(each, "/type") == type) {
      return pointer_text(each, "/status");
    }
  }
  return {};
}

std::string LifecycleFixture::text_of(const model::Resource& resource, const std::string& name,
                                      std::string_view pointer, const std::string& name_space) {
  const auto object = api().get(resource, {.namespace_ = name_space, .name = name});
  return object ? pointer_text(**object, pointer) : "";
}

}  // namespace millwright::test
