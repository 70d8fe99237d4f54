// The extender's wire format (k8s.io/kube-scheduler/extender/v1, names only) and its failures,
// which are ignored: the extender is configured as ignorable.
#include "millwright/model/codec.hpp"
#include "sandbox/scheduler/scheduler.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::sandbox {

namespace {

std::string arguments(const std::string& pod_json, const std::vector<std::string>& names) {
  return "{\"Pod\":" + pod_json + ",\"Nodes\":null,\"NodeNames\":" +
         to_text(boost::json::array(names.begin(), names.end())) + "}";
}

}  // namespace

base::Task<std::optional<Scheduler::FilterAnswer>> Scheduler::ask_filter(
    std::string pod_json, std::vector<std::string> names) {
  auto answer = co_await extender_->call("filter", arguments(pod_json, names));
  if (!answer) {
    context_.log.warn("the scheduler extender failed and is ignored",
                      {{"error", answer.error().message}});
    co_return std::nullopt;
  }
  auto result = model::parse_json(*answer);
  if (!result || !text(*result, "Error").empty()) {
    const auto why = result ? std::string(text(*result, "Error")) : result.error().message;
    context_.log.warn("the scheduler extender's answer is not usable and is ignored",
                      {{"error", why}});
    co_return std::nullopt;
  }
  FilterAnswer filtered;
  for (const auto& name : items(*result, "NodeNames")) {
    if (!name.is_string() ||
        std::find(names.begin(), names.end(), std::string_view(name.get_string())) == names.end()) {
      context_.log.warn("the scheduler extender named a node it was not asked about");
      co_return std::nullopt;
    }
    filtered.passed.emplace_back(name.get_string());
  }
  for (const auto* field : {"FailedNodes", "FailedAndUnresolvableNodes"}) {
    for (const auto& [node, reason] : fields(*result, field)) {
      if (reason.is_string()) {
        ++filtered.reasons[std::string(reason.get_string())];
      }
    }
  }
  for (const auto& [node, reason] : fields(*result, "FailedAndUnresolvableNodes")) {
    filtered.hopeless.emplace(node);
  }
  co_return filtered;
}

base::Task<std::map<std::string, Victims>> Scheduler::ask_preempt(
    std::string pod_json, std::map<std::string, Victims> candidates) {
  boost::json::object nodes;
  for (const auto& [node, victims] : candidates) {
    boost::json::array pods;
    for (const auto& pod : victims.pods) {
      pods.push_back(boost::json::object{{"UID", pod->meta.uid}});
    }
    nodes[node] = boost::json::object{{"Pods", std::move(pods)},
                                      {"NumPDBViolations", victims.budget_violations}};
  }
  const auto body = "{\"Pod\":" + pod_json + ",\"NodeNameToVictims\":null," +
                    "\"NodeNameToMetaVictims\":" + to_text(nodes) + "}";
  auto answer = co_await extender_->call("preempt", body);
  const auto result =
      answer ? model::parse_json(*answer) : base::Result<Json>(tl::unexpected(answer.error()));
  if (!result) {
    context_.log.warn("the scheduler extender failed and is ignored",
                      {{"error", result.error().message}});
    co_return candidates;
  }
  // Only what it names stays; it may spare victims, not add any.
  std::map<std::string, Victims> left;
  for (const auto& [node, meta] : fields(*result, "NodeNameToMetaVictims")) {
    const auto candidate = candidates.find(std::string(node));
    if (candidate == candidates.end()) {
      continue;
    }
    Victims victims;
    victims.budget_violations = static_cast<int>(integer(meta, "NumPDBViolations"));
    for (const auto& pod : candidate->second.pods) {
      const auto& named = items(meta, "Pods");
      if (std::any_of(named.begin(), named.end(),
                      [&](const Json& entry) { return text(entry, "UID") == pod->meta.uid; })) {
        victims.pods.push_back(pod);
      }
    }
    if (!victims.pods.empty()) {
      left.emplace(candidate->first, std::move(victims));
    }
  }
  co_return left;
}

base::Task<std::map<std::string, std::int64_t>> Scheduler::ask_scores(
    std::string pod_json, std::vector<std::string> names) {
  std::map<std::string, std::int64_t> scores;
  auto answer = co_await extender_->call("prioritize", arguments(pod_json, names));
  if (!answer) {
    co_return scores;  // kube-scheduler ignores it too
  }
  const auto list = model::parse_json(*answer);
  if (list && list->is_array()) {
    for (const auto& entry : list->get_array()) {
      scores[std::string(text(entry, "Host"))] = integer(entry, "Score");
    }
  }
  co_return scores;
}

}  // namespace millwright::sandbox
