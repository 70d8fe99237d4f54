#include "millwright/cloud/leader_only.hpp"

#include "millwright/base/mutant.hpp"

#include <utility>

namespace millwright::cloud {
namespace {

class LeaderOnly final : public Provider {
 public:
  LeaderOnly(std::unique_ptr<Provider> inner, const base::Leadership& leadership)
      : inner_(std::move(inner)), leadership_(leadership) {
    inner_->set_may_buy([this] { return may_ask(); });
  }

  std::string_view name() const override { return inner_->name(); }
  std::span<const model::Resource> node_classes() const override { return inner_->node_classes(); }
  Reply<Instance> create(std::shared_ptr<const model::NodeClaim> claim,
                         std::shared_ptr<const model::NodeClass> node_class) override {
    return may_ask() ? inner_->create(std::move(claim), std::move(node_class)) : refuse<Instance>();
  }
  Reply<> remove(std::shared_ptr<const model::NodeClaim> claim) override {
    return may_ask() ? inner_->remove(std::move(claim)) : refuse<void>();
  }
  Reply<Instance> get(std::string provider_id) override {
    return inner_->get(std::move(provider_id));
  }
  Reply<std::vector<Instance>> list() override { return inner_->list(); }
  Reply<> remove_leaked(std::string provider_id) override {
    return may_ask() ? inner_->remove_leaked(std::move(provider_id)) : refuse<void>();
  }
  base::Result<scheduling::InstanceTypes> instance_types(
      const model::NodePool& pool, const model::NodeClass& node_class) const override {
    return inner_->instance_types(pool, node_class);
  }
  Reply<std::string> drift(std::shared_ptr<const model::NodeClaim> claim,
                           std::shared_ptr<const model::NodeClass> node_class) override {
    return inner_->drift(std::move(claim), std::move(node_class));
  }
  std::optional<model::HashStamp> hash_of(const model::NodeClass& node_class) const override {
    return inner_->hash_of(node_class);
  }
  std::vector<std::string> unsupported(const model::NodeClass& node_class) const override {
    return inner_->unsupported(node_class);
  }
  model::RepairPolicies repair_policies() const override { return inner_->repair_policies(); }
  Reply<NodeClassState> resolve(std::shared_ptr<const model::NodeClass> node_class) override {
    return may_ask() ? inner_->resolve(std::move(node_class)) : refuse<NodeClassState>();
  }
  std::string_view node_class_finalizer(const model::NodeClass& node_class) const override {
    return inner_->node_class_finalizer(node_class);
  }
  Reply<> release(std::shared_ptr<const model::NodeClass> node_class) override {
    return may_ask() ? inner_->release(std::move(node_class)) : refuse<void>();
  }
  base::Task<void> run(std::stop_token stop) override { return inner_->run(std::move(stop)); }
  void inherit(base::TimePoint newest) override { inner_->inherit(newest); }
  base::Task<void> lead(std::stop_token stop) override {
    const base::EitherStop either(std::move(stop), leadership_.over());
    co_await inner_->lead(either.token());
  }
  void learn_capacity(const model::NodeClaim& claim, const model::Node& node) override {
    inner_->learn_capacity(claim, node);
  }
  void on_catalog_change(std::function<void()> callback) override {
    inner_->on_catalog_change(std::move(callback));
  }
  void on_interruption(NoticeHandler handler) override {
    inner_->on_interruption(std::move(handler));
  }
  void set_recorded(std::function<bool(std::string_view id)> is_recorded) override {
    inner_->set_recorded(std::move(is_recorded));
  }

 private:
  bool may_ask() const {
    return leadership_.holds() || base::planted(base::Mutant::WritesAfterTerm);
  }
  template <class T>
  static Reply<T> refuse() {
    co_return base::fail(base::ErrorKind::Unavailable,
                         "not asked of the cloud: this replica does not lead, or no longer");
  }

  std::unique_ptr<Provider> inner_;
  const base::Leadership& leadership_;
};

}  // namespace

std::unique_ptr<Provider> leader_only(std::unique_ptr<Provider> provider,
                                      const base::Leadership& leadership) {
  return std::make_unique<LeaderOnly>(std::move(provider), leadership);
}

}  // namespace millwright::cloud
