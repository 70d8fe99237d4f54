// The provider for EC2NodeClasses: owns the parts of this folder and answers for them. Loop thread
// only.
#pragma once

#include "cloud/aws/calls/ec2.hpp"
#include "cloud/aws/calls/pace/instance_batches.hpp"
#include "cloud/aws/catalog/catalog.hpp"
#include "cloud/aws/catalog/price_refresh.hpp"
#include "cloud/aws/catalog/type_refresh.hpp"
#include "cloud/aws/cluster.hpp"
#include "cloud/aws/health/instance_status.hpp"
#include "cloud/aws/health/interruption_queue.hpp"
#include "cloud/aws/health/reservation_watch.hpp"
#include "cloud/aws/health/zonal_shift.hpp"
#include "cloud/aws/instance_cache.hpp"
#include "cloud/aws/keys/credentials.hpp"
#include "cloud/aws/launch/launcher.hpp"
#include "cloud/aws/launch/tagging.hpp"
#include "cloud/aws/node_class/resolver.hpp"
#include "cloud/aws/node_class/validation.hpp"
#include "cloud/common/catalog/restock.hpp"
#include "cloud/common/catalog/type_gauges.hpp"
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
    ProcessEnvironment environment;
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
  std::optional<model::HashStamp> hash_of(const model::NodeClass& node_class) const override;
  model::RepairPolicies repair_policies() const override;
  Reply<NodeClassState> resolve(NodeClassPtr node_class) override;
  std::string_view node_class_finalizer(const model::NodeClass& /*node_class*/) const override {
    return "karpenter.k8s.aws/termination";
  }
  // Deletes the class's instance profiles and launch templates.
  Reply<> release(NodeClassPtr node_class) override;
  void set_may_buy(const std::function<bool()>& may_buy) override { api_.set_may_buy(may_buy); }
  base::Task<void> run(std::stop_token stop) override;
  void inherit(base::TimePoint newest) override { launcher_.inherit(parts_.loop.now(), newest); }
  base::Task<void> lead(std::stop_token stop) override;
  void learn_capacity(const model::NodeClaim& claim, const model::Node& node) override;
  void on_catalog_change(std::function<void()> callback) override;
  void on_interruption(NoticeHandler handler) override;
  void set_recorded(std::function<bool(std::string_view id)> is_recorded) override;

 private:
  TellInterruption interruption_teller();
  Reply<> tell(InstanceNotice notice);
  Reply<> remove_instance(std::string id);
  // As it was a few minutes ago at most.
  Reply<Ec2Instance> recent_instance(std::string id);
  // Returns when EC2 shows which partition of its placement group it chose for the instance.
  base::Task<base::Result<Launched>> await_partition(ClaimPtr claim, Launched launched);
  Instance to_instance(const Ec2Instance& found) const;

  Parts parts_;
  CredentialChain credentials_;
  Api api_;
  Ec2 ec2_;
  Cluster cluster_;
  mutable Catalog catalog_;  // instance_types() caches what it made
  Restock restock_;
  TypeRefresh types_;
  PriceRefresh prices_;
  Resolver resolver_;
  TypeGauges gauges_;
  Launcher launcher_;
  Validation validation_;
  Tagging tagging_;
  InstanceBatches instances_;
  InstanceCache seen_;
  ZonalShifts shifts_;
  ReservationWatch reservations_;
  InstanceStatus status_;
  InterruptionQueue queue_;
  NoticeHandler notice_handler_;
};

}  // namespace millwright::cloud::aws
