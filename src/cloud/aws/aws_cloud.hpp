// The provider: everything of this folder behind the door that clouds keep. Loop thread only.
#pragma once

#include "cloud/aws/batcher.hpp"
#include "cloud/aws/catalog.hpp"
#include "cloud/aws/credentials.hpp"
#include "cloud/aws/ec2.hpp"
#include "cloud/aws/instance_status.hpp"
#include "cloud/aws/launcher.hpp"
#include "cloud/aws/resolver.hpp"
#include "cloud/aws/tagging.hpp"
#include "cloud/aws/type_gauges.hpp"
#include "cloud/aws/validation.hpp"
#include "cloud/aws/zonal_shift.hpp"
#include "millwright/cloud/aws.hpp"

#include <memory>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

class AwsCloud final : public Provider {
 public:
  struct Parts {
    base::Loop& loop;
    net::Client& client;
    AwsSettings settings;
    Surroundings surroundings;
    Endpoints endpoints;
    base::Metrics& metrics;
    base::Logger log;
  };
  AwsCloud(Parts parts, PriceFile prices);

  std::string_view name() const override { return "aws"; }
  std::span<const model::Resource> node_classes() const override;
  Reply<Instance> create(ClaimPtr claim, NodeClassPtr node_class) override;
  Reply<> remove(ClaimPtr claim) override;
  Reply<Instance> get(std::string provider_id) override;
  Reply<std::vector<Instance>> list() override;
  Reply<> remove_leaked(std::string provider_id) override;
  base::Result<scheduling::InstanceTypes> instance_types(
      const model::NodePool& pool, const model::NodeClass& node_class) const override;
  Reply<std::string> drift(ClaimPtr claim, NodeClassPtr node_class) override;
  std::vector<RepairPolicy> repair_policies() const override;
  Reply<NodeClassState> resolve(NodeClassPtr node_class) override;
  std::string_view node_class_finalizer() const override { return "karpenter.k8s.aws/termination"; }
  // Its instance profiles and launch templates.
  Reply<> release(NodeClassPtr node_class) override;
  base::Task<void> run(std::stop_token stop) override;
  base::Task<void> lead(std::stop_token stop) override;
  void on_catalog_change(std::function<void()> callback) override;
  void on_interruption(std::function<void(InstanceNotice)> callback) override;
  void set_recorded(std::function<bool(std::string_view provider_id)> is_recorded) override;

 private:
  // Background work, each with its own period.
  base::Task<void> keep_catalog(std::stop_token stop);
  base::Task<void> keep_prices(std::stop_token stop);
  base::Task<void> keep_templates(std::stop_token stop);
  base::Task<void> restock(std::stop_token stop);
  base::Task<void> watch_reservations(std::stop_token stop);
  base::Task<void> recount_reservations();
  base::Task<void> end_expiring_blocks();
  base::Task<NodeClassState> validate(NodeClassPtr node_class, NodeClassState state,
                                      ClusterFacts cluster);
  base::Task<void> keep_zonal_shifts(std::stop_token stop);
  base::Task<base::Duration> refresh_zonal_shifts();
  base::Task<void> watch_health(std::stop_token stop);
  base::Task<base::Duration> check_health();
  void tell(InterruptionKind kind, std::string_view zone, std::string_view id);
  base::Task<void> keep_listening(std::stop_token stop);
  base::Task<ApiResult<std::string>> queue_url();
  base::Task<ApiResult<>> poll(std::string url, std::stop_token stop);
  base::Task<bool> act_on(std::string body);
  base::Task<bool> refresh_catalog();
  base::Task<bool> refresh_prices();
  void recall_prices();
  void keep_learned_prices();

  base::Task<base::Result<ClusterFacts>> cluster();
  BatcherParts batcher_parts(std::string name);
  using Describes = Batcher<std::string, Ec2Instance>;
  using Terminations = Batcher<std::string, bool>;
  base::Task<Describes::Replies> describe(std::vector<std::string> ids);
  base::Task<Terminations::Replies> terminate(std::vector<std::string> ids);
  Reply<> remove_instance(std::string id);
  // With the partition of its placement group, when EC2 chose it.
  base::Task<base::Result<Launched>> tell_partition(ClaimPtr claim, Launched launched);
  Instance describe_launch(const Launched& launched, const model::NodeClass& node_class);
  Instance to_instance(const Ec2Instance& found) const;
  void catalog_changed();

  Parts parts_;
  CredentialChain credentials_;
  Api api_;
  Ec2 ec2_;
  mutable Catalog catalog_;  // instance_types() keeps what it made
  Resolver resolver_;
  base::Signal sold_out_;
  base::Signal catalog_known_;
  TypeGauges gauges_;
  HealthWatch health_;
  Launcher launcher_;
  Validation validation_;
  Tagging tagging_;
  Describes describes_;
  Terminations terminations_;
  std::function<void()> catalog_callback_;
  std::function<void(InstanceNotice)> interruption_callback_;
  ClusterFacts cluster_;
  base::TimePoint cluster_until_{};
  std::string cluster_arn_;  // once it is known
};

// Why the instance is no longer what its class asks for; empty when it is.
std::string drift_reason(const model::NodeClaim& claim, const model::NodeClass& node_class,
                         const Ec2Instance& instance,
                         const std::vector<scheduling::InstanceType>& types);
// The last reason in that order, PlacementGroupDrift: the instance is not in the group that its
// class selects, or in one although it selects none. Says nothing while the group is not known.
bool placement_changed(const PlacementGroups& groups, const model::NodeClass& node_class,
                       const Ec2Instance& instance);

}  // namespace millwright::cloud::aws
