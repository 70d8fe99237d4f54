#include "millwright/cloud/measured.hpp"

#include <utility>

namespace millwright::cloud {
namespace {

// Karpenter's names of the errors that it can tell apart; the others have none.
std::string error_name(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::NotFound:
      return "NodeClaimNotFoundError";
    case base::ErrorKind::NotReady:
      return "NodeClassNotReadyError";
    case base::ErrorKind::NoCapacity:
      return "InsufficientCapacityError";
    default:
      return {};
  }
}

// A method as Karpenter names it, and the controller that calls it.
struct Method {
  const char* name;
  const char* controller;
};
constexpr Method kCreate{"Create", "nodeclaim.lifecycle"};
constexpr Method kDelete{"Delete", "nodeclaim.lifecycle"};
constexpr Method kGet{"Get", "node.termination"};
constexpr Method kList{"List", "nodeclaim.garbagecollection"};
constexpr Method kRemoveLeaked{"Delete", "instance.garbagecollection"};
constexpr Method kIsDrifted{"IsDrifted", "nodeclaim.disruption"};
constexpr Method kResolve{"Resolve", "nodeclass"};
constexpr Method kRelease{"Release", "nodeclass"};

class Measured final : public Provider {
 public:
  Measured(std::unique_ptr<Provider> inner, base::Loop& loop, base::Metrics& metrics)
      : inner_(std::move(inner)), loop_(loop), metrics_(metrics) {}

  std::string_view name() const override { return inner_->name(); }
  std::span<const model::Resource> node_classes() const override { return inner_->node_classes(); }
  Reply<Instance> create(std::shared_ptr<const model::NodeClaim> claim,
                         std::shared_ptr<const model::NodeClass> node_class) override {
    return measure(kCreate, inner_->create(std::move(claim), std::move(node_class)));
  }
  Reply<> remove(std::shared_ptr<const model::NodeClaim> claim) override {
    return measure(kDelete, inner_->remove(std::move(claim)));
  }
  Reply<Instance> get(std::string provider_id) override {
    return measure(kGet, inner_->get(std::move(provider_id)));
  }
  Reply<std::vector<Instance>> list() override { return measure(kList, inner_->list()); }
  Reply<> remove_leaked(std::string provider_id) override {
    return measure(kRemoveLeaked, inner_->remove_leaked(std::move(provider_id)));
  }
  base::Result<scheduling::InstanceTypes> instance_types(
      const model::NodePool& pool, const model::NodeClass& node_class) const override {
    return inner_->instance_types(pool, node_class);
  }
  Reply<std::string> drift(std::shared_ptr<const model::NodeClaim> claim,
                           std::shared_ptr<const model::NodeClass> node_class) override {
    return measure(kIsDrifted, inner_->drift(std::move(claim), std::move(node_class)));
  }
  std::optional<model::HashStamp> hash_of(const model::NodeClass& node_class) const override {
    return inner_->hash_of(node_class);
  }
  std::vector<std::string> unsupported(const model::NodeClass& node_class) const override {
    return inner_->unsupported(node_class);
  }
  model::RepairPolicies repair_policies() const override { return inner_->repair_policies(); }
  Reply<NodeClassState> resolve(std::shared_ptr<const model::NodeClass> node_class) override {
    return measure(kResolve, inner_->resolve(std::move(node_class)));
  }
  std::string_view node_class_finalizer(const model::NodeClass& node_class) const override {
    return inner_->node_class_finalizer(node_class);
  }
  Reply<> release(std::shared_ptr<const model::NodeClass> node_class) override {
    return measure(kRelease, inner_->release(std::move(node_class)));
  }
  void set_may_buy(const std::function<bool()>& may_buy) override { inner_->set_may_buy(may_buy); }
  base::Task<void> run(std::stop_token stop) override { return inner_->run(std::move(stop)); }
  void inherit(base::TimePoint newest) override { inner_->inherit(newest); }
  base::Task<void> lead(std::stop_token stop) override { return inner_->lead(std::move(stop)); }
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
  template <class T>
  Reply<T> measure(Method method, Reply<T> call) {
    const base::TimePoint begun = loop_.now();
    auto reply = co_await std::move(call);
    const std::chrono::duration<double> took = loop_.now() - begun;
    base::MetricLabels labels;
    labels.emplace("controller", method.controller);
    labels.emplace("method", method.name);
    labels.emplace("provider", name());
    metrics_.observe("karpenter_cloudprovider_duration_seconds", "How long calls of clouds took.",
                     labels, took.count(), kBuckets);
    if (!reply) {
      labels.emplace("error", error_name(reply.error().kind));
      metrics_.count("karpenter_cloudprovider_errors_total", "Calls of clouds that failed.",
                     labels);
    }
    co_return reply;
  }

  // Those that client_golang takes when none are given.
  inline static const std::vector<double> kBuckets{0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                   0.5,   1,    2.5,   5,    10};
  std::unique_ptr<Provider> inner_;
  base::Loop& loop_;
  base::Metrics& metrics_;
};

}  // namespace

std::unique_ptr<Provider> measured(std::unique_ptr<Provider> provider, base::Loop& loop,
                                   base::Metrics& metrics) {
  return std::make_unique<Measured>(std::move(provider), loop, metrics);
}

}  // namespace millwright::cloud
