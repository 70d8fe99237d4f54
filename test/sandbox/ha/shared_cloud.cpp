#include "sandbox/ha/shared_cloud.hpp"

#include <utility>

namespace millwright::test {
namespace {

class SharedCloud final : public cloud::Provider {
 public:
  SharedCloud(base::Loop& loop, cloud::Provider& cloud, std::function<void(std::string)> on_write)
      : loop_(loop), cloud_(cloud), on_write_(std::move(on_write)) {}

  std::string_view name() const override { return cloud_.name(); }
  std::span<const model::Resource> node_classes() const override { return cloud_.node_classes(); }
  Reply<cloud::Instance> create(std::shared_ptr<const model::NodeClaim> claim,
                                std::shared_ptr<const model::NodeClass> node_class) override {
    on_write_("create " + claim->meta.name);
    return come_back(cloud_.create(std::move(claim), std::move(node_class)));
  }
  Reply<> remove(std::shared_ptr<const model::NodeClaim> claim) override {
    on_write_("remove " + claim->meta.name);
    return come_back(cloud_.remove(std::move(claim)));
  }
  Reply<cloud::Instance> get(std::string provider_id) override {
    return come_back(cloud_.get(std::move(provider_id)));
  }
  Reply<std::vector<cloud::Instance>> list() override { return come_back(cloud_.list()); }
  Reply<> remove_leaked(std::string provider_id) override {
    on_write_("remove_leaked " + provider_id);
    return come_back(cloud_.remove_leaked(std::move(provider_id)));
  }
  base::Result<scheduling::InstanceTypes> instance_types(
      const model::NodePool& pool, const model::NodeClass& node_class) const override {
    return cloud_.instance_types(pool, node_class);
  }
  Reply<std::string> drift(std::shared_ptr<const model::NodeClaim> claim,
                           std::shared_ptr<const model::NodeClass> node_class) override {
    return come_back(cloud_.drift(std::move(claim), std::move(node_class)));
  }
  model::RepairPolicies repair_policies() const override { return cloud_.repair_policies(); }
  Reply<cloud::NodeClassState> resolve(
      std::shared_ptr<const model::NodeClass> node_class) override {
    return come_back(cloud_.resolve(std::move(node_class)));
  }
  base::Task<void> run(std::stop_token /*stop*/) override { co_return; }
  void inherit(base::TimePoint newest) override { cloud_.inherit(newest); }
  base::Task<void> lead(std::stop_token stop) override {
    cloud_.on_interruption(on_notice_);
    co_await cloud_.lead(std::move(stop));
  }
  void on_catalog_change(std::function<void()> callback) override {
    auto tell = [alive = std::weak_ptr(life_), callback = std::move(callback)] {
      if (alive.lock()) {
        callback();
      }
    };
    cloud_.on_catalog_change([alive = std::weak_ptr(life_), &loop = loop_, tell = std::move(tell)] {
      if (alive.lock()) {
        loop.post(tell);
      }
    });
  }
  // The cloud tells who leads.
  void on_interruption(cloud::NoticeHandler handler) override { on_notice_ = std::move(handler); }
  void set_recorded(std::function<bool(std::string_view)> /*is_recorded*/) override {}

 private:
  template <class T>
  Reply<T> come_back(Reply<T> call) {
    auto reply = co_await std::move(call);
    co_await base::yield(loop_);
    co_return reply;
  }

  base::Loop& loop_;
  cloud::Provider& cloud_;
  std::function<void(std::string)> on_write_;
  cloud::NoticeHandler on_notice_;
  const std::shared_ptr<const bool> life_ = std::make_shared<const bool>(true);
};

}  // namespace

std::unique_ptr<cloud::Provider> shared_cloud(base::Loop& loop, cloud::Provider& cloud,
                                              std::function<void(std::string)> on_write) {
  return std::make_unique<SharedCloud>(loop, cloud, std::move(on_write));
}

}  // namespace millwright::test
