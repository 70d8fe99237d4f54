// Stories: what a user does with the example manifests, and what must then happen in the cluster.
// A story acts through a kube::Client, as a person does with kubectl. Whether it holds is decided
// by the recorder, that is from watch streams, alone.
#pragma once

#include "millwright/kube/client.hpp"
#include "millwright/sandbox/recorder.hpp"

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::sandbox {

struct StoryInfo {
  std::string_view name;      // "huawei"
  std::string_view summary;   // one sentence
  std::string_view provider;  // whose simulated cloud must run: kwok, aws, alibaba, huawei
  // The time at which its loop must begin, RFC 3339; empty: any.
  std::string_view start{};
  // Needs --min-values-policy BestEffort: its NodePool asks for more than the cloud has.
  bool best_effort_min_values = false;
};

// kwok, huawei, alibaba, aws-team, aws-weight, nodepool-full, budgets-by-reason.
std::span<const StoryInfo> stories();
const StoryInfo* find_story(std::string_view name);
inline constexpr std::string_view kDefaultStory = "huawei";

struct StoryStep {
  base::TimePoint time;
  std::string text;  // plain words: "10 pods run on 3 nodes (24 vCPU) after 48s"
  bool ok = true;
};

struct StoryReport {
  std::string story;
  std::vector<StoryStep> steps;
  std::vector<std::string> failures;  // expectations that did not hold; empty: the story holds
  base::Duration took{};
  bool ok() const { return failures.empty(); }
};

struct StoryEnvironment {
  Recorder* recorder = nullptr;    // sees the cluster that the client talks to
  kube::Client* client = nullptr;  // its loop is the story's clock
  std::string manifests;           // folder of the example manifests
  std::string cluster_name = "sandbox";
  // Told about each step as it happens; may be empty.
  std::function<void(const StoryStep&)> on_step;
};

// Runs to the end, to the first wait that is past its deadline, or to `stop`. The controller must
// be running already.
base::Task<StoryReport> run_story(std::string name, StoryEnvironment environment,
                                  std::stop_token stop);

}  // namespace millwright::sandbox
