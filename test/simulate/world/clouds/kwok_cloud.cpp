// Kwok's cloud: one object that all replicas share.
#include "millwright/cloud/simulated.hpp"
#include "sandbox/ha/shared_cloud.hpp"
#include "simulate/world/clouds/world_cloud.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace millwright::test {
namespace {

base::Duration at_least_a_millisecond(base::Duration time) {
  return std::max<base::Duration>(time, std::chrono::milliseconds(1));
}

cloud::SimulatedSettings settings_of(const Schedule& schedule) {
  auto settings = cloud::default_settings(cloud::Profile::Kwok);
  settings.seed = schedule.seed;
  settings.launch = {at_least_a_millisecond(schedule.launch),
                     at_least_a_millisecond(schedule.launch),
                     at_least_a_millisecond(schedule.launch)};
  settings.boot = {schedule.boot, schedule.boot, schedule.boot};
  settings.termination = {std::chrono::seconds(1), std::chrono::seconds(3), kShutdown};
  settings.interruption_notice = kInterruptionNotice;
  settings.catalog_file = std::string(SOURCE_ROOT) + "/test/simulate/world/catalog.json";
  return settings;
}

class KwokCloud final : public WorldCloud, public cloud::InstanceListener {
 public:
  KwokCloud(base::VirtualLoop& loop, const Schedule& schedule, MachineListener& listener)
      : listener_(listener), settings_(settings_of(schedule)) {
    auto made = cloud::SimulatedCloud::make(loop, cloud::Profile::Kwok, settings_);
    if (!made) {
      throw std::runtime_error(made.error().message);
    }
    cloud_ = *std::move(made);
    cloud_->set_listener(this);
  }
  ~KwokCloud() override { cloud_->set_listener(nullptr); }

  std::unique_ptr<cloud::Provider> provider(ProviderParts parts) override {
    return shared_cloud(parts.loop, *cloud_, std::move(parts.on_write));
  }
  std::string node_class() const override {
    return "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\n"
           "metadata: {name: default}\n";
  }
  std::string node_class_ref() const override {
    return "group: karpenter.kwok.sh, kind: KWOKNodeClass";
  }
  void set_trouble(const CloudTrouble& trouble) override {
    settings_.error_rate = trouble.errors;
    settings_.throttle_rate = trouble.throttles;
    settings_.lost_reply_rate = trouble.lost_replies;
    settings_.capacity_error_rate = trouble.no_capacity;
    settings_.call = {base::Duration::zero(), trouble.slow / 2, trouble.slow};
    cloud_->configure(settings_);
  }
  bool interrupt(const std::string& provider_id) override { return cloud_->interrupt(provider_id); }
  void lose(const std::string& provider_id) override { cloud_->lose(provider_id); }
  std::string claim_uid_of(const std::string& provider_id) const override {
    const auto found = claim_uids_.find(provider_id);
    return found == claim_uids_.end() ? std::string() : found->second;
  }

  // cloud::InstanceListener
  void launched(const cloud::Instance& instance, std::shared_ptr<const model::NodeClaim> claim,
                base::Duration boot) override {
    claim_uids_[instance.provider_id] = claim->meta.uid;
    listener_.launched(instance, std::move(claim), boot);
  }
  void terminating(const std::string& provider_id) override { listener_.terminating(provider_id); }
  void terminated(const std::string& provider_id) override { listener_.terminated(provider_id); }

 private:
  MachineListener& listener_;
  cloud::SimulatedSettings settings_;
  std::unique_ptr<cloud::SimulatedCloud> cloud_;
  std::map<std::string, std::string> claim_uids_;
};

}  // namespace

std::unique_ptr<WorldCloud> make_kwok_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                            MachineListener& listener) {
  return std::make_unique<KwokCloud>(loop, schedule, listener);
}

}  // namespace millwright::test
