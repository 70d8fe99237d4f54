#include "app/shadow/live_pods.hpp"

#include "app/replay/day/day_pods.hpp"
#include "app/replay/stand_in.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <utility>

namespace millwright::app {
namespace {

namespace json = boost::json;

json::value names_of(const json::value& object) {
  return json::object{{"metadata",
                       {{"namespace", model::text_at(object, "metadata.namespace")},
                        {"name", model::text_at(object, "metadata.name")}}}};
}

}  // namespace

void LivePods::begin(json::value pod, bool owned, std::vector<json::value>& first) {
  fill_images(pod);
  if ((owned && is_of_played_owner(pod)) || is_static_pod(pod) || has_pod_ended(pod)) {
    first.push_back(std::move(pod));
    return;
  }
  auto& loose = pods_[std::string(model::text_at(pod, "metadata.uid"))];
  if (controller_of(pod) == nullptr) {
    loose = {.resource = &model::kPodResource, .names = names_of(pod)};
  } else {
    auto owner = stand_in_owner(pod, std::nullopt);
    give_owner(pod, owner);
    loose = {.resource = &model::kReplicaSetResource, .names = names_of(owner)};
    first.push_back(std::move(owner));
  }
  first.push_back(std::move(pod));
}

std::optional<DayStep> LivePods::seen(const RecordingLine& line) {
  const auto& pod = line.object;
  const bool leaves = is_deleting(pod) || has_pod_ended(pod);
  const auto found = pods_.find(line.uid);
  if (found != pods_.end()) {
    return leaves ? leave(found->second, line.at) : std::nullopt;
  }
  if (leaves || is_of_played_owner(pod) || is_static_pod(pod)) {
    return std::nullopt;
  }
  const bool bare = controller_of(pod) == nullptr;
  auto copy = pod;
  fill_images(copy);
  auto wish = bare ? bare_pod_wish(std::move(copy)) : stand_in_owner(copy, std::nullopt);
  const auto* resource = bare ? &model::kPodResource : &model::kReplicaSetResource;
  pods_[line.uid] = {.resource = resource, .names = names_of(wish)};
  return DayStep{.at = line.at,
                 .what = DayStep::What::Put,
                 .object = {.resource = resource, .object = std::move(wish)}};
}

std::optional<DayStep> LivePods::gone(const RecordingLine& line) {
  const auto found = pods_.find(line.uid);
  if (found == pods_.end()) {
    return std::nullopt;
  }
  auto step = leave(found->second, line.at);
  pods_.erase(found);
  return step;
}

std::optional<DayStep> LivePods::leave(Loose& loose, base::TimePoint at) {
  if (std::exchange(loose.left, true)) {
    return std::nullopt;
  }
  return DayStep{.at = at,
                 .what = DayStep::What::Remove,
                 .object = {.resource = loose.resource, .object = loose.names}};
}

}  // namespace millwright::app
