// A provider that does nothing but tell through which door it was entered.
#pragma once

#include "millwright/cloud/provider.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace millwright::cloud {

inline constexpr model::RepairPolicy kWitnessRepairPolicies[] = {
    {"Awake", model::ConditionStatus::False, std::chrono::minutes(1)}};

// Notes which of the doors was used that a provider may leave as they are, and those without an
// answer to look at.
class Witness : public Provider {
 public:
  explicit Witness(std::vector<std::string>& used) : used_(used) {}

  std::string_view name() const override { return "witness"; }
  std::span<const model::Resource> node_classes() const override { return {}; }
  Reply<Instance> create(std::shared_ptr<const model::NodeClaim>,
                         std::shared_ptr<const model::NodeClass>) override {
    return refuse<Instance>("create");
  }
  Reply<> remove(std::shared_ptr<const model::NodeClaim>) override {
    return refuse<void>("remove");
  }
  Reply<Instance> get(std::string) override { return refuse<Instance>("get"); }
  Reply<std::vector<Instance>> list() override { return refuse<std::vector<Instance>>("list"); }
  Reply<> remove_leaked(std::string) override { return refuse<void>("remove_leaked"); }
  base::Result<scheduling::InstanceTypes> instance_types(const model::NodePool&,
                                                         const model::NodeClass&) const override {
    return base::fail(base::ErrorKind::NotReady, "a witness sells nothing");
  }
  Reply<std::string> drift(std::shared_ptr<const model::NodeClaim>,
                           std::shared_ptr<const model::NodeClass>) override {
    return refuse<std::string>("drift");
  }
  std::optional<model::HashStamp> hash_of(const model::NodeClass&) const override {
    return model::HashStamp{
        .key = "witness/hash", .version_key = {}, .hash = {}, .version = {}, .earlier = {}};
  }
  std::vector<std::string> unsupported(const model::NodeClass&) const override {
    return {"witness"};
  }
  model::RepairPolicies repair_policies() const override { return kWitnessRepairPolicies; }
  Reply<NodeClassState> resolve(std::shared_ptr<const model::NodeClass>) override {
    return refuse<NodeClassState>("resolve");
  }
  std::string_view node_class_finalizer(const model::NodeClass&) const override {
    return "witness/finalizer";
  }
  Reply<> release(std::shared_ptr<const model::NodeClass>) override {
    return refuse<void>("release");
  }
  void set_may_buy(const std::function<bool()>& asked) override { may_buy = asked; }
  base::Task<void> run(std::stop_token) override {
    note("run");
    co_return;
  }
  base::Task<void> lead(std::stop_token) override {
    note("lead");
    co_return;
  }
  void learn_capacity(const model::NodeClaim&, const model::Node&) override {
    note("learn_capacity");
  }
  void on_catalog_change(std::function<void()> callback) override { callback(); }
  void on_interruption(NoticeHandler handler) override {
    InstanceNotice notice;
    notice.provider_id = "witness://interrupted";
    static_cast<void>(handler(std::move(notice)));
  }
  void set_recorded(std::function<bool(std::string_view)> is_recorded) override {
    note(is_recorded("witness://recorded") ? "set_recorded" : "set_recorded: other");
  }

  std::function<bool()> may_buy;

 protected:
  void note(std::string door) { used_.push_back(std::move(door)); }

 private:
  template <class T>
  Reply<T> refuse(std::string door) {
    note(std::move(door));
    co_return base::fail(base::ErrorKind::Unavailable, "a witness does nothing");
  }

  std::vector<std::string>& used_;
};

}  // namespace millwright::cloud
