#include "aws/support/telling.hpp"

#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"

namespace millwright::test {
namespace {

constexpr auto kPoll = std::chrono::seconds(1);
constexpr auto kCleanUpLimit = std::chrono::minutes(10);

base::Task<void> delete_all(kube::Client& client, model::Resource resource, std::stop_token stop) {
  const kube::ListOptions all;
  const kube::DeleteOptions plainly;
  auto listed = co_await client.list(resource, all, stop);
  if (!listed) {
    co_return;
  }
  for (const auto& object : listed->items) {
    const auto meta = model::decode_meta(object);
    if (meta) {
      const auto key = model::key_of(*meta);
      auto removed = co_await client.remove(resource, key, plainly, stop);
      static_cast<void>(removed);  // whether all is gone is asked below
    }
  }
}

base::Task<bool> is_empty(kube::Client& client, model::Resource resource, std::stop_token stop) {
  const kube::ListOptions all;
  auto listed = co_await client.list(resource, all, stop);
  co_return listed && listed->items.empty();
}

base::Task<bool> clean_up(kube::Client& client, std::stop_token stop) {
  const auto deadline = client.loop().now() + kCleanUpLimit;
  const std::vector<model::Resource> classes{
      model::kEc2NodeClassResource, model::kEcsNodeClassResource, model::kCceNodeClassResource};
  std::vector<model::Resource> all{model::kDeploymentResource, model::kProvisionerResource,
                                   model::kAwsNodeTemplateResource, model::kNodePoolResource};
  all.insert(all.end(), classes.begin(), classes.end());
  for (const auto& resource : all) {
    co_await delete_all(client, resource, stop);
  }
  std::vector<model::Resource> to_be_gone{model::kNodeClaimResource};
  to_be_gone.insert(to_be_gone.end(), classes.begin(), classes.end());
  for (const auto& resource : to_be_gone) {
    bool empty = co_await is_empty(client, resource, stop);
    while (!empty && client.loop().now() < deadline && !stop.stop_requested()) {
      co_await base::sleep(client.loop(), kPoll, stop);
      empty = co_await is_empty(client, resource, stop);
    }
    if (!empty) {
      co_return false;
    }
  }
  co_return true;
}

}  // namespace

base::Task<sandbox::StoryReport> tell_and_clean_up(std::string story, sandbox::Recorder& recorder,
                                                   kube::Client& client, std::stop_token stop) {
  sandbox::StoryEnvironment environment;
  environment.recorder = &recorder;
  environment.client = &client;
  environment.manifests = SOURCE_ROOT "/manifests/examples";
  environment.cluster_name = kFacadeCluster;
  auto report = co_await sandbox::run_story(std::move(story), std::move(environment), stop);
  const bool clean = co_await clean_up(client, stop);
  if (!clean) {
    report.failures.emplace_back("claims or NodeClasses were left after everything was deleted");
  }
  co_return report;
}

std::string failures_of(const sandbox::StoryReport& report) {
  std::string text;
  for (const auto& failure : report.failures) {
    text += failure + "\n";
  }
  if (!text.empty()) {
    for (const auto& step : report.steps) {
      text += "  " + base::format_rfc3339(step.time) + " " + step.text + "\n";
    }
  }
  return text;
}

}  // namespace millwright::test
