#include "millwright/sandbox/story.hpp"

#include "sandbox/stories/stage.hpp"

#include <algorithm>

namespace millwright::sandbox {
namespace {

using Teller = base::Task<void> (*)(Stage&);

struct Entry {
  StoryInfo info;
  Teller tell;
};

const Entry kEntries[] = {
    {{.name = "huawei",
      .summary = "A burst on Huawei CCE: nodes come, shrink to a smaller one first, and go.",
      .provider = "huawei"},
     tell_huawei},
    {{.name = "alibaba",
      .summary = "Spot only on Alibaba Cloud: one spot node, gone a minute after its pod.",
      .provider = "alibaba"},
     tell_alibaba},
    {{.name = "aws-team",
      .summary = "Two legacy Provisioners on AWS: the pod's instance type decides which one buys.",
      .provider = "aws"},
     tell_aws_team},
    {{.name = "aws-weight",
      .summary = "Legacy Provisioners by weight: all pods on t-family nodes of the heavier one.",
      .provider = "aws"},
     tell_aws_weight},
    {{.name = "nodepool-full",
      .summary =
          "Every field of a v1 NodePool: accepted unchanged, and it plans what tolerates it.",
      .provider = "aws",
      .best_effort_min_values = true},
     tell_nodepool_full},
    {{.name = "budgets-by-reason",
      .summary = "Budgets by reason: nothing underutilized goes before midnight, empty ones do.",
      .provider = "alibaba",
      .start = "2026-01-07T23:05:00Z"},
     tell_budgets_by_reason},
    {{.name = "kwok",
      .summary = "The smallest whole: one NodePool, one Deployment, nodes up and gone again.",
      .provider = "kwok"},
     tell_kwok},
};

}  // namespace

std::span<const StoryInfo> stories() {
  static const auto kInfos = [] {
    std::vector<StoryInfo> infos;
    for (const auto& entry : kEntries) {
      infos.push_back(entry.info);
    }
    return infos;
  }();
  return kInfos;
}

const StoryInfo* find_story(std::string_view name) {
  const auto infos = stories();
  const auto found = std::find_if(infos.begin(), infos.end(),
                                  [name](const auto& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

base::Task<StoryReport> run_story(std::string name, StoryEnvironment environment,
                                  std::stop_token stop) {
  Stage stage(name, environment, stop);
  const auto* const entry =
      std::find_if(std::begin(kEntries), std::end(kEntries),
                   [&name](const auto& candidate) { return candidate.info.name == name; });
  if (entry == std::end(kEntries)) {
    stage.fail("there is a story named \"" + name + "\"");
  } else {
    co_await entry->tell(stage);
  }
  co_return stage.finish();
}

}  // namespace millwright::sandbox
