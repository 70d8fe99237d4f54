#include "cloud/aws/calls/pace/instance_batches.hpp"

#include <algorithm>

namespace millwright::cloud::aws {
namespace {

using base::ErrorKind;

BatcherParts batcher_parts(Api& api, base::Metrics& metrics, std::string name) {
  return {.loop = api.loop(), .metrics = metrics, .name = std::move(name), .limits = {}};
}

}  // namespace

base::Error no_such_instance(const std::string& id) {
  return {ErrorKind::NotFound, "instance " + id + " does not exist (any more)", {}};
}

InstanceBatches::InstanceBatches(Api& api, base::Metrics& metrics)
    : ec2_(api),
      describes_(batcher_parts(api, metrics, "describe_instances"),
                 [this](std::vector<std::string> ids) { return describe_all(std::move(ids)); }),
      terminations_(
          batcher_parts(api, metrics, "terminate_instances"),
          [this](std::vector<std::string> ids) { return terminate_all(std::move(ids)); }) {}

base::Task<base::Result<>> InstanceBatches::terminate(std::string id) {
  MW_CO_CHECK(co_await terminations_.ask(std::move(id)));
  co_return base::Result<>{};
}

base::Task<InstanceBatches::Describes::Replies> InstanceBatches::describe_all(
    std::vector<std::string> ids) {
  Describes::Replies replies;
  auto found = co_await ec2_.instances_by_id(ids);
  if (!found && ids.size() > 1 && found.error().code.starts_with("InvalidInstanceID.")) {
    // EC2 refuses the whole call because of one that is gone, or that is no id.
    for (const auto& id : ids) {
      std::vector<std::string> one(1, id);
      auto single = co_await describe_all(std::move(one));
      replies.push_back(std::move(single.front()));
    }
    co_return replies;
  }
  for (const auto& id : ids) {
    if (!found) {
      replies.emplace_back(tl::unexpected<base::Error>(found.error()));
      continue;
    }
    const auto instance =
        std::find_if(found->begin(), found->end(), [&](const auto& each) { return each.id == id; });
    if (instance == found->end()) {
      replies.emplace_back(tl::unexpected(no_such_instance(id)));
    } else {
      replies.emplace_back(*instance);
    }
  }
  co_return replies;
}

base::Task<InstanceBatches::Terminations::Replies> InstanceBatches::terminate_all(
    std::vector<std::string> ids) {
  Terminations::Replies replies;
  auto done = co_await ec2_.terminate(ids);
  if (!done && ids.size() > 1) {
    // One that cannot be terminated must not protect the others.
    for (const auto& id : ids) {
      std::vector<std::string> one(1, id);
      auto single = co_await terminate_all(std::move(one));
      replies.push_back(std::move(single.front()));
    }
    co_return replies;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (done) {
      replies.emplace_back(true);
    } else {
      replies.emplace_back(tl::unexpected<base::Error>(done.error()));
    }
  }
  co_return replies;
}

}  // namespace millwright::cloud::aws
