#include "unit/sandbox/world_fixture.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::sandbox {

namespace {

std::string container(const std::string& cpu) {
  return R"("containers":[{"name":"main","image":"app:1","resources":{"requests":{"cpu":")" + cpu +
         R"("}}}])";
}

std::string pod_spec_of(const std::string& cpu, const std::string& more) {
  return "{" + container(cpu) + (more.empty() ? "" : "," + more) + "}";
}

}  // namespace

std::string one_pod(const std::string& name, const std::string& cpu, const std::string& pod_spec,
                    const std::string& metadata) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + '"' +
         (metadata.empty() ? "" : "," + metadata) + R"(},"spec":)" + pod_spec_of(cpu, pod_spec) +
         "}";
}

void WorldFixture::launch(const std::string& name, const std::string& cpu,
                          const model::StringMap& labels, base::Duration boot) {
  cloud::Instance instance;
  instance.provider_id = "test://" + name;
  instance.node_name = name;
  instance.labels = labels;
  instance.capacity = {{"cpu", *model::Quantity::parse(cpu)},
                       {"memory", *model::Quantity::parse("16Gi")},
                       {"pods", *model::Quantity::parse("110")}};
  instance.allocatable = instance.capacity;
  world().kubelet().launched(instance, nullptr, boot);
}

void WorldFixture::register_node(const std::string& name) {
  set_node(name, [](boost::json::value& node) {
    auto& taints = node.at("spec").at("taints").as_array();
    taints.erase(std::remove_if(taints.begin(), taints.end(),
                                [](const auto& taint) {
                                  return text_at(taint, "key") == model::kUnregisteredTaint;
                                }),
                 taints.end());
  });
}

void WorldFixture::set_node(const std::string& name,
                            const std::function<void(boost::json::value&)>& change) {
  ASSERT_TRUE(api().update(model::kNodeResource, {{}, name}, change).has_value());
}

void WorldFixture::apply(const std::string& json) {
  const auto object = boost::json::parse(json);
  const auto* resource =
      model::find_by_kind(text_at(object, "apiVersion"), text_at(object, "kind"));
  ASSERT_NE(resource, nullptr);
  const auto stored = api().create(*resource, object);
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
}

void WorldFixture::make_deployment(const std::string& name, int replicas, const std::string& cpu,
                                   const std::string& pod_spec) {
  apply(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":")" + name +
        R"("},"spec":{"replicas":)" + std::to_string(replicas) +
        R"(,"selector":{"matchLabels":{"app":")" + name +
        R"("}},"template":{"metadata":{"labels":{"app":")" + name + R"("}},"spec":)" +
        pod_spec_of(cpu, pod_spec) + "}}}");
}

void WorldFixture::scale(const std::string& name, int replicas) {
  ASSERT_TRUE(api()
                  .update(model::kDeploymentResource, {"default", name},
                          [&](boost::json::value& json) {
                            json.at("spec").as_object()["replicas"] = replicas;
                          })
                  .has_value());
}

std::map<std::string, std::string> WorldFixture::pods() {
  std::map<std::string, std::string> all;
  for (const auto& pod : api().list(model::kPodResource)) {
    const bool ending = !text_at(*pod, "metadata.deletionTimestamp").empty();
    all[text_at(*pod, "metadata.name")] =
        (ending ? "Ending" : text_at(*pod, "status.phase")) + "@" + text_at(*pod, "spec.nodeName");
  }
  return all;
}

std::size_t WorldFixture::count(const std::string& state) {
  const auto all = pods();
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const auto& pod) { return pod.second.starts_with(state); }));
}

std::string WorldFixture::node_of(const std::string& pod) {
  const auto found = api().get(model::kPodResource, {"default", pod});
  return found ? text_at(**found, "spec.nodeName") : "no such pod";
}

std::string WorldFixture::why_pending(const std::string& pod) {
  const auto found = api().get(model::kPodResource, {"default", pod});
  if (!found) {
    return "no such pod";
  }
  const auto* conditions = model::find_path(**found, "status.conditions");
  if (conditions == nullptr) {
    return {};
  }
  for (const auto& condition : conditions->as_array()) {
    if (text_at(condition, "type") == "PodScheduled") {
      return text_at(condition, "message");
    }
  }
  return {};
}

}  // namespace millwright::sandbox
