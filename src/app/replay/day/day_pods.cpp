#include "app/replay/day/day_pods.hpp"

#include "app/replay/stand_in.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;

std::string uid_of(const json::value& object) {
  return std::string(text_at(object, "metadata.uid"));
}

// Whether the sandbox plays this owner of pods. Kinds of the same name in other groups are others.
bool is_played(const json::value& owner) {
  for (const auto* resource : {&model::kReplicaSetResource, &model::kStatefulSetResource,
                               &model::kDaemonSetResource, &model::kJobResource}) {
    if (text_at(owner, "kind") == resource->kind &&
        model::api_group(text_at(owner, "apiVersion")) == resource->group) {
      return true;
    }
  }
  return false;
}

}  // namespace

const json::value* controller_of(const json::value& object) {
  const auto* owners = model::find_path(object, "metadata.ownerReferences");
  if (owners == nullptr || !owners->is_array()) {
    return nullptr;
  }
  for (const auto& owner : owners->get_array()) {
    const auto* flag = model::member(owner, "controller");
    if (flag != nullptr && flag->is_bool() && flag->get_bool()) {
      return &owner;
    }
  }
  return nullptr;
}

bool is_deleting(const json::value& object) {
  return !text_at(object, "metadata.deletionTimestamp").empty();
}

bool has_pod_ended(const json::value& pod) {
  const auto phase = text_at(pod, "status.phase");
  return phase == "Succeeded" || phase == "Failed";
}

bool is_pod_running(const json::value& pod) {
  return text_at(pod, "status.phase") == "Running";
}

bool is_of_played_owner(const json::value& pod) {
  const auto* owner = controller_of(pod);
  return owner != nullptr && is_played(*owner);
}

bool is_static_pod(const json::value& pod) {
  const auto* owner = controller_of(pod);
  return owner != nullptr && text_at(*owner, "kind") == "Node";
}

json::value bare_pod_wish(json::value pod) {
  auto wish = wish_of(model::kPodResource, std::move(pod));
  if (auto* spec = wish.as_object().if_contains("spec"); spec != nullptr && spec->is_object()) {
    spec->get_object().erase("nodeName");
  }
  return wish;
}

// Of volumes and quotas the status is asked for, too: nobody binds or counts them here.
json::value wish_of(const model::Resource& resource, json::value object) {
  auto& members = object.as_object();
  if (resource != model::kPersistentVolumeResource &&
      resource != model::kPersistentVolumeClaimResource &&
      resource != model::kResourceQuotaResource) {
    members.erase("status");
  }
  auto& metadata = members.at("metadata").as_object();
  for (const auto* member : {"generation", "creationTimestamp", "deletionTimestamp",
                             "deletionGracePeriodSeconds", "finalizers", "ownerReferences"}) {
    metadata.erase(member);
  }
  fill_images(object);
  return object;
}

void LoosePods::begin(json::value pod, bool owned, RecordedDay& day, std::size_t line) {
  fill_images(pod);
  if ((owned && is_of_played_owner(pod)) || is_static_pod(pod) || has_pod_ended(pod)) {
    day.first.push_back(std::move(pod));
    return;
  }
  auto& loose = add(pod, day.start, line);
  loose.in_first = true;
  if (controller_of(pod) == nullptr) {
    loose.first = day.first.size();
    day.first.push_back(std::move(pod));
  }
}

LoosePods::Loose& LoosePods::add(const json::value& pod, base::TimePoint at, std::size_t line) {
  auto& loose = pods_[uid_of(pod)];
  loose.pod = pod;
  loose.at = at;
  loose.line = line;
  if (is_pod_running(pod)) {
    loose.began = at;
  }
  return loose;
}

void LoosePods::take(const RecordingLine& line, std::size_t number) {
  const auto& pod = line.object;
  const auto found = pods_.find(line.uid);
  if (found == pods_.end()) {
    const bool nobodys = !is_of_played_owner(pod) && !is_static_pod(pod);
    if (nobodys && !is_deleting(pod) && !has_pod_ended(pod)) {
      auto copy = pod;
      fill_images(copy);
      add(copy, line.at, number);
    }
    return;
  }
  auto& loose = found->second;
  if (is_pod_running(pod) && !loose.began) {
    loose.began = line.at;
  }
  if (is_deleting(pod) && !loose.left) {
    loose.left = line.at;
  }
  if (has_pod_ended(pod) && !loose.left && !loose.ended) {
    loose.ended = line.at;
  }
}

void LoosePods::gone(const RecordingLine& line) {
  const auto found = pods_.find(line.uid);
  if (found != pods_.end() && !found->second.left) {
    found->second.left = line.at;
  }
}

void LoosePods::place(RecordedDay& day) {
  for (auto& [uid, loose] : pods_) {
    if (controller_of(loose.pod) == nullptr) {
      place_bare(loose, day);
    } else {
      place_owned(loose, day);
    }
  }
  if (stand_ins_ > 0) {
    day.notes.push_back(std::to_string(stand_ins_) +
                        " pod(s) of owners unknown here come and go as they were recorded");
  }
}

void LoosePods::place_owned(Loose& loose, RecordedDay& day) {
  std::optional<base::Duration> runs_for;
  if (loose.ended) {
    runs_for = *loose.ended - loose.began.value_or(loose.at);
  }
  ++stand_ins_;
  auto owner = stand_in_owner(loose.pod, runs_for);
  const auto* resource = runs_for ? &model::kJobResource : &model::kReplicaSetResource;
  if (loose.in_first) {
    give_owner(loose.pod, owner);
    if (runs_for) {
      set_run_for(loose.pod, *runs_for);
    }
    day.first.push_back(owner);
    day.first.push_back(std::move(loose.pod));
  } else {
    day.steps.push_back({loose.at, loose.line, DayStep::What::Put, {resource, owner}});
  }
  if (loose.left && !runs_for) {
    day.steps.push_back(
        {*loose.left, loose.line, DayStep::What::Remove, {resource, std::move(owner)}});
  }
}

void LoosePods::place_bare(Loose& loose, RecordedDay& day) {
  if (loose.ended) {
    set_run_for(loose.first ? day.first[*loose.first] : loose.pod,
                *loose.ended - loose.began.value_or(loose.at));
  }
  const auto* resource = &model::kPodResource;
  auto wish = bare_pod_wish(loose.pod);
  if (!loose.in_first) {
    day.steps.push_back({loose.at, loose.line, DayStep::What::Put, {resource, wish}});
  }
  if (loose.left) {
    day.steps.push_back(
        {*loose.left, loose.line, DayStep::What::Remove, {resource, std::move(wish)}});
  }
}

void JobRuns::take(const RecordingLine& line) {
  const auto* owner = controller_of(line.object);
  if (owner == nullptr || text_at(*owner, "kind") != model::kJobResource.kind) {
    return;
  }
  auto& began = running_since_[line.uid];
  if (!began && is_pod_running(line.object)) {
    began = base::parse_rfc3339(text_at(line.object, "status.startTime")).value_or(line.at);
  }
  if (has_pod_ended(line.object) && ends_.try_emplace(line.uid, line.at).second && began) {
    runs_[std::string(text_at(*owner, "uid"))].push_back(line.at - *began);
  }
}

void JobRuns::set(RecordedDay& day) {
  for (auto& [uid, durations] : runs_) {
    std::sort(durations.begin(), durations.end());
  }
  const auto set_template = [this](json::value& object) {
    const auto found = runs_.find(uid_of(object));
    const auto* pod_template = model::find_path(object, "spec.template");
    if (found != runs_.end() && pod_template != nullptr && pod_template->is_object()) {
      set_run_for(object.at("spec").at("template"), found->second[found->second.size() / 2]);
    }
  };
  for (auto& object : day.first) {
    set_template(object);
    const auto end = ends_.find(uid_of(object));
    if (end != ends_.end() && end->second > day.start) {
      set_run_for(object, end->second - day.start);
    }
  }
  for (auto& step : day.steps) {
    if (step.what == DayStep::What::Put) {
      set_template(step.object.object);
    }
  }
}

}  // namespace millwright::app
