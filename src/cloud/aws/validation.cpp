#include "cloud/aws/validation.hpp"

#include "cloud/aws/digest.hpp"

#include <boost/json.hpp>

namespace millwright::cloud::aws {
namespace {

// Karpenter's.
constexpr base::Duration kGoodFor = std::chrono::minutes(30);
// Its controller's period: a role that was mended is noticed by then.
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

}  // namespace

base::Task<std::optional<NodeClassCondition>> Validation::judge(NodeClassPtr node_class,
                                                                ClusterFacts cluster) {
  const auto inputs = inputs_of(*node_class, cluster);
  const auto& name = node_class->meta.name;
  if (const auto found = kept_.find(name);
      found != kept_.end() && found->second.of == inputs && loop_.now() < found->second.until) {
    co_return found->second.condition;
  }
  auto tried = co_await launcher_.dry_run(node_class, std::move(cluster));
  if (!tried) {
    log_.warn("a dry run of a launch says nothing, will try again",
              {{"EC2NodeClass", name}, {"error", tried.error().message}});
    co_return std::nullopt;
  }
  NodeClassCondition condition;
  condition.type = "ValidationSucceeded";
  condition.good = tried->reason.empty();
  condition.reason = tried->reason;
  condition.message = tried->message;
  kept_[name] = {inputs, loop_.now() + (condition.good ? kGoodFor : kBadFor), condition};
  co_return condition;
}

}  // namespace millwright::cloud::aws
