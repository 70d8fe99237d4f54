#include "cloud/aws/launch/launch_templates.hpp"

#include "cloud/aws/catalog/type_labels.hpp"

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

constexpr base::Duration kCollectPeriod = std::chrono::minutes(5);
// Unused for so long, a template is deleted; it is created again when it is needed.
constexpr base::Duration kUnused = std::chrono::minutes(10);

}  // namespace

base::Task<base::Result<std::string>> LaunchTemplates::ensure(TemplateRequest request) {
  const auto now = loop_.now();
  if (const auto known = used_.find(request.name); known != used_.end()) {
    known->second = now;
    co_return request.name;
  }
  const auto [underway, first] = creating_.try_emplace(request.name);
  if (!first) {
    const base::Promise<base::Result<>> created_by_other(loop_);
    underway->second.push_back(created_by_other);
    MW_CO_CHECK(co_await created_by_other.get());
    co_return request.name;
  }
  auto created = co_await ec2_.create_launch_template(request.form);
  base::Result<> result;
  // The name is the content's hash: one that exists is the same.
  if (created || created.error().kind == ErrorKind::Exists) {
    used_[request.name] = now;
  } else {
    result = base::with_context("launch template " + request.name, std::move(created).error());
  }
  auto waiting = creating_.extract(request.name);
  for (const auto& other : waiting.mapped()) {
    other.set(result);
  }
  MW_CO_CHECK(std::move(result));
  co_return request.name;
}

base::Task<void> LaunchTemplates::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    co_await base::sleep(loop_, kCollectPeriod, stop);
    if (!stop.stop_requested()) {
      co_await collect();
    }
  }
}

base::Task<void> LaunchTemplates::collect() {
  const std::vector<Filter> filters{{"tag:" + std::string(kClusterTag), {cluster_name_}}};
  auto listed = co_await ec2_.launch_templates(filters);
  if (!listed) {
    log_.warn("listing launch templates failed", {{"error", listed.error().message}});
    co_return;
  }
  const auto now = loop_.now();
  for (const auto& name : *listed) {
    // This process may not have seen its last use: its time begins now.
    const auto [known, added] = used_.emplace(name, now);
    if (!name.starts_with("karpenter.k8s.aws/") || now - known->second < kUnused) {
      continue;
    }
    used_.erase(known);  // before the call, so that a launch meanwhile creates it again
    auto deleted = co_await ec2_.delete_launch_template(name);
    if (!deleted && deleted.error().kind != ErrorKind::NotFound) {
      log_.warn("deleting a launch template failed", {{"error", deleted.error().message}});
    }
  }
}

base::Task<ApiResult<>> LaunchTemplates::remove_all_of(std::string node_class) {
  const std::vector<Filter> filters{{"tag:" + std::string(kClusterTag), {cluster_name_}},
                                    {"tag:" + std::string(kNodeClassLabel), {node_class}}};
  MW_CO_TRY(names, co_await ec2_.launch_templates(filters));
  for (const auto& name : names) {
    used_.erase(name);
    auto deleted = co_await ec2_.delete_launch_template(name);
    if (!deleted && deleted.error().kind != ErrorKind::NotFound) {
      co_return deleted;
    }
  }
  co_return ApiResult<>{};
}

}  // namespace millwright::cloud::aws
