// A whole cluster in virtual time with the gated features on, and words to speak about it.
#pragma once

#include "millwright/model/codec.hpp"
#include "millwright/scheduling/solve.hpp"
#include "support/virtual_cluster.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace millwright::test {

namespace json = boost::json;
using std::chrono::minutes;
using std::chrono::seconds;

inline app::EmbeddedOptions gated() {
  app::EmbeddedOptions options;
  options.profiles = {cloud::Profile::Kwok};
  options.controllers.static_capacity = true;
  options.controllers.node_overlay = true;
  options.controllers.capacity_buffer = true;
  return options;
}

class Semantics : public testing::Test {
 protected:
  explicit Semantics(app::EmbeddedOptions options = gated()) : cluster_(std::move(options)) {
    create(R"(
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
)");
  }

  sandbox::ApiServer& api() { return cluster_.cluster->world().api(); }

  void create(const std::string& yaml) {
    const auto documents = model::parse_yaml(yaml);
    ASSERT_TRUE(documents) << documents.error().message;
    for (const auto& document : *documents) {
      const auto* resource = model::find_by_kind(std::string(document.at("apiVersion").as_string()),
                                                 std::string(document.at("kind").as_string()));
      ASSERT_NE(resource, nullptr);
      const auto created = api().create(*resource, document);
      ASSERT_TRUE(created) << created.error().message;
    }
  }
  static std::string pool(const std::string& name, const std::string& more) {
    return "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " + name +
           "}\nspec:\n"
           "  template:\n    spec:\n"
           "      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}\n"
           "      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: "
           "[on-demand]}]\n" +
           more;
  }
  static std::string deployment(const std::string& name, int replicas, const std::string& requests,
                                const std::string& more = {}) {
    return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
           ", namespace: default}\nspec:\n  replicas: " + std::to_string(replicas) +
           "\n  selector: {matchLabels: {app: " + name +
           "}}\n  template:\n    metadata: {labels: {app: " + name + "}}\n    spec:\n" + more +
           "      containers: [{name: work, image: work, resources: {requests: {" + requests +
           "}}}]\n";
  }
  void edit(const model::Resource& resource, const std::string& name,
            const std::function<void(json::value&)>& change) {
    const model::ObjectKey key{.namespace_ = resource.namespaced ? "default" : "", .name = name};
    const auto updated = api().update(resource, key, change);
    ASSERT_TRUE(updated) << updated.error().message;
  }
  json::value object(const model::Resource& resource, const std::string& name) {
    const model::ObjectKey key{.namespace_ = resource.namespaced ? "default" : "", .name = name};
    auto found = api().get(resource, key);
    return found ? **found : json::value();
  }
  // "True RequiresNewCapacity" or "".
  std::string condition(const model::Resource& resource, const std::string& name,
                        std::string_view type) {
    const auto found = object(resource, name);
    const auto* list = model::find_path(found, "status.conditions");
    if (list == nullptr) {
      return {};
    }
    for (const auto& each : list->as_array()) {
      if (each.at("type").as_string() == type) {
        return json::value_to<std::string>(each.at("status")) + " " +
               json::value_to<std::string>(each.at("reason"));
      }
    }
    return {};
  }

  scheduling::SnapshotPtr snapshot() { return cluster_.cluster->engine().state().snapshot(); }
  // Nodes of the pool that are up and stay.
  std::vector<scheduling::NodeRecordPtr> nodes(std::string_view pool = "default") {
    std::vector<scheduling::NodeRecordPtr> result;
    for (const auto& record : snapshot()->nodes) {
      if (record->node_pool() == pool && record->node && record->initialized() &&
          !record->marked_for_deletion) {
        result.push_back(record);
      }
    }
    return result;
  }
  std::size_t claims() { return cluster_.cluster->world().recorder().claims().size(); }
  std::size_t running(const std::string& app) {
    std::size_t count = 0;
    for (const auto& [uid, pod] : cluster_.cluster->world().recorder().pods()) {
      count += pod.last->meta.label("app") == app && pod.running && !pod.deleting ? 1 : 0;
    }
    return count;
  }
  // Messages of the events about the pods of an app.
  std::vector<std::string> events_of(const std::string& app, std::string_view reason) {
    std::vector<std::string> messages;
    for (const auto& event : api().list(model::kEventResource)) {
      const auto name = json::value_to<std::string>(event->at("involvedObject").at("name"));
      if (event->at("reason").as_string() == reason && name.starts_with(app + "-") &&
          event->at("involvedObject").at("kind").as_string() == "Pod") {
        messages.push_back(json::value_to<std::string>(event->at("message")));
      }
    }
    return messages;
  }
  bool soon(const std::function<bool()>& holds, base::Duration limit = minutes(10)) {
    return cluster_.loop.run_until(holds, limit);
  }

  VirtualCluster cluster_;
};

// Room for two pods of Deployment web.
inline constexpr const char* kBuffer = R"(
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: room, namespace: default}
spec:
  scalableRef: {apiGroup: apps, kind: Deployment, name: web}
  replicas: 2
)";

}  // namespace millwright::test
