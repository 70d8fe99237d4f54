#include "cloud/aws/node_class/validation.hpp"

#include "cloud/common/text/digest.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

constexpr std::string_view kValidationSucceeded = "ValidationSucceeded";
// Of a class that no dry run could be made for.
constexpr std::string_view kDependenciesNotReady = "DependenciesNotReady";
// A class is not validated yet when the instance types are not known by then.
constexpr base::Duration kCatalogAwaited = std::chrono::seconds(20);
// Karpenter's.
constexpr base::Duration kGoodFor = std::chrono::minutes(30);
// The period of Karpenter's controller: a corrected role is noticed by then.
constexpr base::Duration kBadFor = std::chrono::minutes(10);

std::string inputs_of(const model::NodeClass& node_class, const ClusterFacts& cluster) {
  std::string text = boost::json::serialize(node_class.spec);
  text.append("\n").append(boost::json::serialize(node_class.status));
  for (const auto* fact : {&cluster.endpoint, &cluster.ca_bundle, &cluster.version,
                           &cluster.service_cidr, &cluster.dns_address}) {
    text.append("\n").append(*fact);
  }
  return to_hex(sha256(text));
}

void judge(NodeClassState& state, const NodeClassCondition& condition) {
  if (state.ready && !condition.good) {
    state.ready = false;
    state.reason = condition.reason;
    state.message = condition.message;
  }
}

// AWS could not be asked: the condition that the class has remains, and goes on to count. Not one
// that AWS never gave: what the class was waiting for is there now.
NodeClassState as_before(const model::NodeClass& node_class, NodeClassState state) {
  const auto* last = model::find_condition(node_class.conditions, kValidationSucceeded);
  if (last == nullptr || last->status != model::ConditionStatus::False) {
    return state;
  }
  NodeClassCondition condition;
  condition.type = kValidationSucceeded;
  if (last->reason == kDependenciesNotReady) {
    condition.is_unknown = true;
    condition.reason = "DryRunNotMade";
    condition.message = "the dry run of a launch could not be made yet; it is tried again";
    state.conditions.push_back(std::move(condition));
    return state;
  }
  condition.reason = last->reason;
  condition.message = last->message;
  judge(state, condition);
  return state;
}

}  // namespace

base::Task<NodeClassState> Validation::validate(NodeClassPtr node_class, NodeClassState state,
                                                ClusterFacts cluster) {
  NodeClassCondition condition;
  condition.type = kValidationSucceeded;
  condition.good = state.ready;
  if (!state.ready) {
    condition.reason = kDependenciesNotReady;
    condition.message = "waiting for what the other conditions name";
  } else if (parts_.dry_run) {
    co_await parts_.types.wait_until_known(kCatalogAwaited);
    if (!parts_.catalog.is_known()) {
      co_return as_before(*node_class, std::move(state));
    }
    const auto resolved = std::make_shared<model::NodeClass>(*node_class);
    resolved->status = state.status;
    resolved->meta.resource_version.clear();  // no version of it has this status yet
    auto answer = co_await try_launch(resolved, std::move(cluster));
    if (!answer) {
      co_return as_before(*node_class, std::move(state));
    }
    condition = *std::move(answer);
  }
  judge(state, condition);
  state.conditions.push_back(std::move(condition));
  co_return state;
}

base::Task<std::optional<NodeClassCondition>> Validation::try_launch(NodeClassPtr node_class,
                                                                     ClusterFacts cluster) {
  const auto inputs = inputs_of(*node_class, cluster);
  const auto& name = node_class->meta.name;
  if (const auto found = answers_.find(name); found != answers_.end() &&
                                              found->second.inputs == inputs &&
                                              parts_.loop.now() < found->second.until) {
    co_return found->second.condition;
  }
  auto tried = co_await parts_.launcher.dry_run(node_class, std::move(cluster));
  if (!tried) {
    parts_.log.warn("the dry run of a launch could not be made, will try again",
                    {{"EC2NodeClass", name}, {"error", tried.error().message}});
    co_return std::nullopt;
  }
  NodeClassCondition condition;
  condition.type = kValidationSucceeded;
  condition.good = tried->reason.empty();
  condition.reason = tried->reason;
  condition.message = tried->message;
  answers_[name] = {inputs, parts_.loop.now() + (condition.good ? kGoodFor : kBadFor), condition};
  co_return condition;
}

}  // namespace millwright::cloud::aws
