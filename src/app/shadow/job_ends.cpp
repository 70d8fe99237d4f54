#include "app/shadow/job_ends.hpp"

#include "app/replay/day/day_pods.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <tuple>

namespace millwright::app {
namespace {

namespace json = boost::json;
using model::text_at;

bool is_job_over(const json::value& job) {
  if (!text_at(job, "status.completionTime").empty()) {
    return true;
  }
  const auto* conditions = model::find_path(job, "status.conditions");
  return conditions != nullptr && conditions->is_array() &&
         std::any_of(conditions->get_array().begin(), conditions->get_array().end(),
                     [](const json::value& condition) {
                       return text_at(condition, "type") == "Failed" &&
                              text_at(condition, "status") == "True";
                     });
}

// The uid of the pod's Job; empty when it is of none.
std::string job_of(const json::value& pod) {
  const auto* owner = controller_of(pod);
  return owner != nullptr && text_at(*owner, "kind") == model::kJobResource.kind
             ? std::string(text_at(*owner, "uid"))
             : std::string();
}

base::TimePoint start_of(const json::value& pod, base::TimePoint otherwise) {
  return base::parse_rfc3339(text_at(pod, "status.startTime")).value_or(otherwise);
}

void end_pod(sandbox::ApiServer& api, const model::ObjectKey& key) {
  // One that is gone meanwhile needs no end.
  (void)api.update(
      model::kPodResource, key,
      [](json::value& pod) {
        auto& status = pod.as_object()["status"];
        auto& members = status.is_object() ? status.get_object() : status.emplace_object();
        members["phase"] = "Succeeded";
      },
      "status");
}

}  // namespace

void JobEnds::seen(const RecordingLine& line) {
  if (*line.resource == model::kPodResource) {
    seen_pod(line);
  } else if (*line.resource == model::kJobResource && is_job_over(line.object)) {
    auto& known = jobs_[line.uid];
    known.over = known.longest;
  }
}

void JobEnds::seen_pod(const RecordingLine& line) {
  const auto job = job_of(line.object);
  if (job.empty()) {
    return;
  }
  if (is_pod_running(line.object)) {
    began_.try_emplace(line.uid, start_of(line.object, line.at));
    return;
  }
  const auto began = began_.find(line.uid);
  if (has_pod_ended(line.object) && began != began_.end()) {
    auto& known = jobs_[job];
    const auto ran = std::max(line.at - began->second, base::Duration::zero());
    known.ended.push_back({.uid = line.uid, .ran = ran});
    known.longest = std::max(known.longest, ran);
    began_.erase(began);
  }
}

void JobEnds::serve(sandbox::ApiServer& stand_in, base::TimePoint now) {
  if (jobs_.empty()) {
    return;
  }
  // Those that are over here, too, or were never here, need nothing any more.
  std::map<std::string, std::vector<Running>> running;
  for (const auto& job : stand_in.list(model::kJobResource)) {
    if (!is_job_over(*job)) {
      running.try_emplace(std::string(text_at(*job, "metadata.uid")));
    }
  }
  std::erase_if(jobs_, [&running](const auto& entry) { return !running.contains(entry.first); });
  for (const auto& pod : stand_in.list(model::kPodResource)) {
    const auto found = is_pod_running(*pod) ? running.find(job_of(*pod)) : running.end();
    if (found != running.end()) {
      found->second.push_back({.uid = std::string(text_at(*pod, "metadata.uid")),
                               .key = {std::string(text_at(*pod, "metadata.namespace")),
                                       std::string(text_at(*pod, "metadata.name"))},
                               .since = start_of(*pod, now)});
    }
  }
  for (auto& [uid, known] : jobs_) {
    end_due(known, std::move(running[uid]), stand_in, now);
  }
}

void JobEnds::end_due(Known& known, std::vector<Running> running, sandbox::ApiServer& stand_in,
                      base::TimePoint now) {
  std::sort(running.begin(), running.end(), [](const Running& a, const Running& b) {
    return std::tie(a.since, a.key) < std::tie(b.since, b.key);
  });
  std::vector<Ended> open;
  for (auto& ended : known.ended) {
    // The pod itself, where it was there at the start; else the one that has run longest.
    auto pod = std::find_if(running.begin(), running.end(),
                            [&ended](const Running& each) { return each.uid == ended.uid; });
    const bool is_itself = pod != running.end();
    pod = is_itself ? pod : running.begin();
    const bool due = pod != running.end() && (is_itself || pod->since + ended.ran <= now);
    if (due) {
      end_pod(stand_in, pod->key);
    } else {
      open.push_back(std::move(ended));
    }
    if (pod != running.end()) {
      running.erase(pod);
    }
  }
  known.ended = std::move(open);
  for (const auto& pod : running) {
    if (known.over && pod.since + *known.over <= now) {
      end_pod(stand_in, pod.key);
    }
  }
}

}  // namespace millwright::app
