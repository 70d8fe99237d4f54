#include "cloud/aws/launch/tagging.hpp"

#include "cloud/aws/launch/launch_request.hpp"

namespace millwright::cloud::aws {

model::StringMap missing_tags(const model::NodeClaim& claim, const Ec2Instance& instance,
                              const std::string& cluster) {
  model::StringMap wanted{{"Name", claim.node_name},
                          {std::string(kClaimTag), claim.meta.name},
                          {std::string(kClusterTag), cluster}};
  std::erase_if(wanted, [&](const auto& tag) { return instance.tags.contains(tag.first); });
  return wanted;
}

bool Tagging::look_at(const model::NodeClaim& claim, const Ec2Instance& instance) {
  if (claim.node_name.empty() || claim.meta.is_deleting() || instance.is_terminating()) {
    return false;
  }
  auto tags = missing_tags(claim, instance, cluster_name_);
  if (tags.empty()) {
    return false;
  }
  if (underway_.insert(instance.id).second) {
    group_.spawn(tag(instance.id, std::move(tags)));
  }
  return true;
}

base::Task<void> Tagging::tag(std::string instance, model::StringMap tags) {
  auto tagged = co_await ec2_.create_tags(instance, std::move(tags));
  underway_.erase(instance);
  if (!tagged && tagged.error().kind != base::ErrorKind::NotFound) {
    log_.warn("naming an instance after its Node failed, will try again",
              {{"instance", instance}, {"error", tagged.error().message}});
  }
}

}  // namespace millwright::cloud::aws
