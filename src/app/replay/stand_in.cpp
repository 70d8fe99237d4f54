#include "app/replay/stand_in.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/sandbox/world.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <string>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;

constexpr const char* kStandInLabel = "recording.millwright.io/stand-in";
constexpr const char* kNoImage = "recorded.invalid/none";
// A Job's pods get names of its own and a suffix.
constexpr std::size_t kMostOfOwnersName = 52;

json::object& member_object(json::object& holder, std::string_view key) {
  auto& member = holder[key];
  return member.is_object() ? member.get_object() : member.emplace_object();
}

void fill_images_of(json::value* spec) {
  if (spec == nullptr || !spec->is_object()) {
    return;
  }
  for (const auto* list : {"containers", "initContainers"}) {
    auto* containers = spec->get_object().if_contains(list);
    if (containers == nullptr || !containers->is_array()) {
      continue;
    }
    for (auto& container : containers->get_array()) {
      if (container.is_object()) {
        container.get_object()["image"] = kNoImage;
      }
    }
  }
}

}  // namespace

json::value stand_in_owner(const json::value& pod, std::optional<base::Duration> runs_for) {
  const std::string uid(text_at(pod, "metadata.uid"));
  const std::string name(text_at(pod, "metadata.name").substr(0, kMostOfOwnersName));
  json::object metadata;
  for (const auto* key : {"labels", "annotations"}) {
    if (const auto* member = model::find_path(pod, std::string("metadata.") + key);
        member != nullptr && member->is_object()) {
      metadata[key] = *member;
    }
  }
  // Sets of pods with the same labels would take each other's.
  member_object(metadata, "labels")[kStandInLabel] = uid.substr(0, 63);
  json::object spec;
  if (const auto* own = model::find_path(pod, "spec"); own != nullptr && own->is_object()) {
    spec = own->get_object();
  }
  spec.erase("nodeName");
  spec["restartPolicy"] = runs_for ? "Never" : "Always";
  json::value pod_template{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
  if (runs_for) {
    set_run_for(pod_template, *runs_for);
  }
  json::object owner_spec{{"template", std::move(pod_template)}};
  if (!runs_for) {
    owner_spec["replicas"] = 1;
    owner_spec["selector"] = {{"matchLabels", {{kStandInLabel, uid.substr(0, 63)}}}};
  }
  return json::object{
      {"apiVersion", runs_for ? "batch/v1" : "apps/v1"},
      {"kind", runs_for ? "Job" : "ReplicaSet"},
      {"metadata", json::object{{"name", name.substr(0, name.find_last_not_of("-.") + 1)},
                                {"namespace", text_at(pod, "metadata.namespace")},
                                {"uid", "stand-in-" + uid}}},
      {"spec", std::move(owner_spec)}};
}

void give_owner(json::value& pod, const json::value& owner) {
  pod.at("metadata").as_object()["ownerReferences"] =
      json::array{json::object{{"apiVersion", owner.at("apiVersion")},
                               {"kind", owner.at("kind")},
                               {"name", owner.at("metadata").at("name")},
                               {"uid", owner.at("metadata").at("uid")},
                               {"controller", true},
                               {"blockOwnerDeletion", true}}};
}

void set_run_for(json::value& holder, base::Duration runs_for) {
  auto& metadata = member_object(holder.as_object(), "metadata");
  member_object(metadata, "annotations")[sandbox::kRunForAnnotation] =
      base::format_go_duration(std::max<base::Duration>(runs_for, std::chrono::seconds(1)));
}

void fill_images(json::value& object) {
  auto* spec = object.is_object() ? object.get_object().if_contains("spec") : nullptr;
  fill_images_of(spec);
  auto* pod_template =
      spec != nullptr && spec->is_object() ? spec->get_object().if_contains("template") : nullptr;
  if (pod_template != nullptr && pod_template->is_object()) {
    fill_images_of(pod_template->get_object().if_contains("spec"));
  }
}

}  // namespace millwright::app
