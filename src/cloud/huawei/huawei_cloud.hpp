// The provider for CCENodeClasses: owns the parts of this folder and answers for them. Loop thread
// only.
#pragma once

#include "cloud/common/catalog/type_gauges.hpp"
#include "cloud/huawei/calls/nodes.hpp"
#include "cloud/huawei/catalog/catalog.hpp"
#include "cloud/huawei/catalog/refresh.hpp"
#include "cloud/huawei/health/failed_nodes.hpp"
#include "cloud/huawei/keys/credentials.hpp"
#include "cloud/huawei/launch/launcher.hpp"
#include "cloud/huawei/node_class/resolver.hpp"
#include "millwright/cloud/huawei.hpp"

#include <optional>
#include <string>
#include <vector>

namespace millwright::cloud::huawei {

class HuaweiCloud final : public Provider {
 public:
  struct Parts {
    base::Loop& loop;
    net::Client& client;
    HuaweiSettings settings;
    ProcessEnvironment environment;
    Endpoints endpoints;
    std::string cluster;  // CCE's id of it
    base::Metrics& metrics;
    base::Logger log;
  };
  explicit HuaweiCloud(Parts parts, PriceFile prices = {});

  std::string_view name() const override { return "huawei"; }
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
  Reply<> release(NodeClassPtr node_class) override;
  std::string_view node_class_finalizer(const model::NodeClass& /*node_class*/) const override {
    return "karpenter.k8s.huawei/termination";
  }
  void set_may_buy(const std::function<bool()>& may_buy) override { api_.set_may_buy(may_buy); }
  base::Task<void> run(std::stop_token stop) override;
  void inherit(base::TimePoint newest) override { launcher_.inherit(parts_.loop.now(), newest); }
  base::Task<void> lead(std::stop_token stop) override;
  void learn_capacity(const model::NodeClaim& claim, const model::Node& node) override;
  void on_catalog_change(std::function<void()> callback) override;
  // Of nodes that CCE could not make; it says nothing about machines that will end.
  void on_interruption(NoticeHandler handler) override {
    failed_nodes_.on_notice(std::move(handler));
  }
  // One claim, one node: each carries its claim's UID.
  void set_recorded(std::function<bool(std::string_view)>) override {}

 private:
  Reply<> remove_node(std::string uid);
  Instance to_instance(const CceNode& node) const;

  Parts parts_;
  CredentialChain credentials_;
  Api api_;
  CceNodes nodes_;
  mutable Catalog catalog_;  // instance_types() caches what it made
  Restock restock_;
  CatalogRefresh refresh_;
  Resolver resolver_;
  Launcher launcher_;
  FailedNodes failed_nodes_;
  TypeGauges gauges_;
};

}  // namespace millwright::cloud::huawei
