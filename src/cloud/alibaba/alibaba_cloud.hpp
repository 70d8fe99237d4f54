// The provider for the ECSNodeClasses of both groups: owns the parts of this folder and answers for
// them. Loop thread only.
#pragma once

#include "cloud/alibaba/calls/cs.hpp"
#include "cloud/alibaba/calls/ecs.hpp"
#include "cloud/alibaba/catalog/catalog.hpp"
#include "cloud/alibaba/catalog/catalog_refresh.hpp"
#include "cloud/alibaba/health/recycled_instances.hpp"
#include "cloud/alibaba/keys/credentials.hpp"
#include "cloud/alibaba/launch/launcher.hpp"
#include "cloud/alibaba/node_class/resolver.hpp"
#include "cloud/alibaba/node_class/served_class.hpp"
#include "cloud/common/catalog/restock.hpp"
#include "cloud/common/catalog/type_gauges.hpp"
#include "cloud/common/pace/batcher.hpp"
#include "millwright/cloud/alibaba.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud::alibaba {

class AlibabaCloud final : public Provider {
 public:
  struct Parts {
    base::Loop& loop;
    net::Client& client;
    AlibabaSettings settings;
    ProcessEnvironment environment;
    Endpoints endpoints;
    base::Metrics& metrics;
    base::Logger log;
  };
  AlibabaCloud(Parts parts, PriceFile prices);

  std::string_view name() const override { return "alibaba"; }
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
  std::vector<std::string> unsupported(const model::NodeClass& node_class) const override;
  model::RepairPolicies repair_policies() const override;
  Reply<NodeClassState> resolve(NodeClassPtr node_class) override;
  Reply<> release(NodeClassPtr node_class) override;
  std::string_view node_class_finalizer(const model::NodeClass& node_class) const override {
    return is_official(node_class) ? "karpenter.alibabacloud.com/termination"
                                   : "karpenter.k8s.alibabacloud/termination";
  }
  void set_may_buy(const std::function<bool()>& may_buy) override { api_.set_may_buy(may_buy); }
  base::Task<void> run(std::stop_token stop) override;
  void inherit(base::TimePoint newest) override { launcher_.inherit(parts_.loop.now(), newest); }
  base::Task<void> lead(std::stop_token stop) override;
  void learn_capacity(const model::NodeClaim& claim, const model::Node& node) override;
  void on_catalog_change(std::function<void()> callback) override;
  void on_interruption(NoticeHandler handler) override;
  void set_recorded(std::function<bool(std::string_view)>) override {}  // one claim, one launch

 private:
  using Describes = Batcher<std::string, EcsInstance>;
  base::Task<Describes::Replies> describe_all(std::vector<std::string> ids);
  ServedClass served(const NodeClassPtr& node_class) const {
    return as_served(node_class, parts_.settings.cluster_id);
  }
  base::Task<base::Result<std::vector<EcsInstance>>> owned();
  Reply<> remove_instance(std::string id);
  // Asked again every five minutes.
  base::Task<base::Result<ClusterFacts>> cluster();
  base::Task<Interfaces> interfaces(std::string add_on);
  std::string provider_id_of(const std::string& instance_id) const;
  std::string instance_id_of(std::string_view provider_id) const;
  Instance to_instance(const EcsInstance& found) const;
  Instance to_instance(const Launched& launched, const model::NodeClaim& claim,
                       const model::NodeClass& node_class) const;

  Parts parts_;
  CredentialChain credentials_;
  Api api_;
  Ecs ecs_;
  Cs cs_;
  mutable Catalog catalog_;  // instance_types() caches what it made
  Restock restock_;
  CatalogRefresh refresh_;
  Resolver resolver_;
  Launcher launcher_;
  RecycledInstances recycled_;
  TypeGauges gauges_;
  Describes describes_;
  std::set<std::string> deleting_;  // ids whose deletion ECS has taken
  std::optional<ClusterFacts> cluster_;
  base::TimePoint cluster_until_{};
};

}  // namespace millwright::cloud::alibaba
