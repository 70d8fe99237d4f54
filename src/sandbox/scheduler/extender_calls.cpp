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

base::Task<std::optional<std::vector<std::string>>> Scheduler::ask_filter(
    std::string pod_json, std::vector<std::string> names, std::shared_ptr<Reasons> reasons) {
  auto answer = co_await extender_->call("filter", arguments(pod_json, names));
  if (!answer) {
    world_.log.warn("the scheduler extender failed and is ignored",
                    {{"error", answer.error().message}});
    co_return std::nullopt;
  }
  auto result = model::parse_json(*answer);
  if (!result || !text(*result, "Error").empty()) {
    world_.log.warn(
        "the scheduler extender's answer is not usable and is ignored",
        {{"error", result ? std::string(text(*result, "Error")) : result.error().message}});
    co_return std::nullopt;
  }
  std::vector<std::string> passed;
  for (const auto& name : items(*result, "NodeNames")) {
    if (!name.is_string() ||
        std::find(names.begin(), names.end(), std::string_view(name.get_string())) == names.end()) {
      world_.log.warn("the scheduler extender named a node it was not asked about");
      co_return std::nullopt;
    }
    passed.emplace_back(name.get_string());
  }
  for (const auto* field : {"FailedNodes", "FailedAndUnresolvableNodes"}) {
    for (const auto& [node, reason] : fields(*result, field)) {
      if (reason.is_string()) {
        ++(*reasons)[std::string(reason.get_string())];
      }
    }
  }
  co_return passed;
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
