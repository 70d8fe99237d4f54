// One simulated cloud for several processes: `millwright cloud` serves it and controllers call it
// through RemoteCloud. As with a real cloud, its instances outlive the controllers, and all
// replicas see the same ones. Calls are JSON over plain HTTP, for loopback only.
#pragma once

#include "millwright/cloud/simulated.hpp"
#include "millwright/net/client.hpp"

#include <memory>
#include <string>

namespace millwright::cloud {

// Carries out one call: `verb` is the last part of the path "/<profile>/<verb>", `body` what
// RemoteCloud sent. The body of a 200 answer has the result or the error; other statuses mean that
// the request was not a call.
base::Task<net::Response> answer_cloud_call(SimulatedCloud& cloud, std::string verb,
                                            std::string body);

// Instances are in the other process. The catalog, resolving NodeClasses and drift are computed
// here. Unavailable when the other process does not answer. Loop thread only.
class RemoteCloud final : public Provider {
 public:
  // `url`: "http://127.0.0.1:8090".
  static base::Result<std::unique_ptr<RemoteCloud>> make(base::Loop& loop, Profile profile,
                                                         SimulatedSettings settings,
                                                         std::string url);

  std::string_view name() const override { return local_->name(); }
  std::span<const model::Resource> node_classes() const override { return local_->node_classes(); }
  Reply<Instance> create(std::shared_ptr<const model::NodeClaim> claim,
                         std::shared_ptr<const model::NodeClass> node_class) override;
  Reply<> remove(std::shared_ptr<const model::NodeClaim> claim) override;
  Reply<Instance> get(std::string provider_id) override;
  Reply<std::vector<Instance>> list() override;
  Reply<> remove_leaked(std::string provider_id) override;
  base::Result<scheduling::InstanceTypes> instance_types(
      const model::NodePool& pool, const model::NodeClass& node_class) const override {
    return local_->instance_types(pool, node_class);
  }
  Reply<std::string> drift(std::shared_ptr<const model::NodeClaim> claim,
                           std::shared_ptr<const model::NodeClass> node_class) override {
    return local_->drift(std::move(claim), std::move(node_class));
  }
  std::optional<model::HashStamp> hash_of(const model::NodeClass& node_class) const override {
    return local_->hash_of(node_class);
  }
  std::vector<std::string> unsupported(const model::NodeClass& node_class) const override {
    return local_->unsupported(node_class);
  }
  model::RepairPolicies repair_policies() const override { return local_->repair_policies(); }
  Reply<NodeClassState> resolve(std::shared_ptr<const model::NodeClass> node_class) override {
    return local_->resolve(std::move(node_class));
  }
  base::Task<void> run(std::stop_token stop) override { return local_->run(std::move(stop)); }
  void on_catalog_change(std::function<void()> callback) override {
    local_->on_catalog_change(std::move(callback));
  }
  // Never called: the other process does not send notices.
  void on_interruption(NoticeHandler) override {}
  void set_recorded(std::function<bool(std::string_view id)>) override {}

 private:
  RemoteCloud(std::unique_ptr<SimulatedCloud> local, std::unique_ptr<net::Client> client,
              std::string url);
  base::Task<base::Result<boost::json::value>> call(std::string verb, boost::json::value request);

  std::unique_ptr<SimulatedCloud> local_;
  std::unique_ptr<net::Client> client_;
  std::string url_;
};

}  // namespace millwright::cloud
