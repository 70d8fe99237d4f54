#include "cloud/alibaba/node_class/served_class.hpp"

#include "cloud/common/node_class/spec_fields.hpp"
#include "millwright/cloud/alibaba_groups.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <array>
#include <utility>

namespace millwright::cloud::alibaba {
namespace {

namespace json = boost::json;
using model::text_at;

struct TwinCondition {
  std::string_view served;
  std::string_view official;
};
constexpr std::array kTwinConditions{TwinCondition{"VSwitchesReady", "VSwitchResolved"},
                                     TwinCondition{"SecurityGroupsReady", "SecurityGroupResolved"},
                                     TwinCondition{"ImagesReady", "ImageResolved"}};

struct TwinArchitecture {
  std::string_view served;
  std::string_view official;  // as ECS names it
};
constexpr std::array kTwinArchitectures{TwinArchitecture{"amd64", "x86_64"},
                                        TwinArchitecture{"arm64", "arm64"}};

std::string served_architecture(std::string_view official) {
  for (const auto& twin : kTwinArchitectures) {
    if (twin.official == official) {
      return std::string(twin.served);
    }
  }
  return std::string(official);
}

std::string official_architecture(const json::value& image) {
  for (const auto& requirement : list_at(image, "requirements")) {
    const auto& values = list_at(requirement, "values");
    if (text_at(requirement, "key") != model::kArchLabel || values.size() != 1) {
      continue;
    }
    const auto value = model::as_text(&values.front());
    for (const auto& twin : kTwinArchitectures) {
      if (twin.served == value) {
        return std::string(twin.official);
      }
    }
    return std::string(value);
  }
  return {};
}

json::value served_status(const json::value& status) {
  if (!status.is_object()) {
    return status;
  }
  json::object result = status.get_object();
  json::array images;
  for (const auto& image : list_at(status, "images")) {
    json::array requirements;
    if (const auto architecture = text_at(image, "architecture"); !architecture.empty()) {
      requirements.push_back(
          json::object{{"key", model::kArchLabel},
                       {"operator", "In"},
                       {"values", json::array{served_architecture(architecture)}}});
    }
    images.push_back(json::object{{"id", text_at(image, "id")},
                                  {"name", text_at(image, "name")},
                                  {"requirements", std::move(requirements)}});
  }
  result["images"] = std::move(images);
  return result;
}

// Without the count of free addresses: it changes with every pod of the zone, and each change would
// be a write.
json::object official_status(const json::value& status) {
  json::array vswitches;
  for (const auto& each : list_at(status, "vSwitches")) {
    const auto zone = text_at(each, "zoneID");
    vswitches.push_back(
        json::object{{"id", text_at(each, "id")}, {"zone", zone}, {"zoneID", zone}});
  }
  json::array images;
  for (const auto& each : list_at(status, "images")) {
    json::object image{{"id", text_at(each, "id")}, {"name", text_at(each, "name")}};
    if (auto architecture = official_architecture(each); !architecture.empty()) {
      image["architecture"] = std::move(architecture);
    }
    images.push_back(std::move(image));
  }
  return {{"vSwitches", std::move(vswitches)},
          {"securityGroups", list_at(status, "securityGroups")},
          {"images", std::move(images)}};
}

}  // namespace

std::string ServedClass::problems_text() const {
  std::string text;
  for (const auto& problem : problems) {
    text.append(text.empty() ? "" : "; ").append(problem);
  }
  return text;
}

void ServedClass::judge(NodeClassState& state) const {
  if (!problems.empty()) {
    state.ready = false;
    state.reason = "SpecNotSupported";
    state.message = problems_text();
  }
}

ServedClass as_served(const NodeClassPtr& node_class, std::string_view cluster_id) {
  if (!is_official(*node_class)) {
    return {.node_class = node_class, .problems = {}};
  }
  auto translated =
      translate_ecs_class(json::object{{"metadata", json::object{{"name", node_class->meta.name}}},
                                       {"spec", node_class->spec}},
                          EcsGroup::Served);
  auto served = std::make_shared<model::NodeClass>(*node_class);
  served->spec = translated.object.at("spec");
  served->status = served_status(node_class->status);
  auto problems = std::move(translated.problems);
  const auto named = text_at(node_class->spec, "clusterID");
  if (!named.empty() && named != cluster_id) {
    problems.push_back(
        "spec.clusterID is not the cluster of this controller's --cluster-id; leave "
        "it out, or name " +
        std::string(cluster_id));
  }
  return {.node_class = std::move(served), .problems = std::move(problems)};
}

NodeClassState in_own_terms(const model::NodeClass& node_class, NodeClassState state) {
  if (!is_official(node_class)) {
    return state;
  }
  for (auto& condition : state.conditions) {
    for (const auto& twin : kTwinConditions) {
      if (condition.type == twin.served) {
        condition.type = twin.official;
        break;
      }
    }
  }
  auto status = official_status(state.status);
  status["ready"] = state.ready;
  // nullptr takes off what an earlier spec left; ECS judges the role at the launch.
  const auto role = text_at(node_class.spec, "role");
  status["ramRole"] = role.empty() ? json::value(nullptr) : json::value(role);
  state.status = std::move(status);
  return state;
}

}  // namespace millwright::cloud::alibaba
