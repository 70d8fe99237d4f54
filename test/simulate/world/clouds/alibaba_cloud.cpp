// Alibaba Cloud: an ECS and an ACK that remember. A spot instance that is taken back is locked.
#include "cloud/alibaba/alibaba_cloud.hpp"

#include "cloud/alibaba/catalog/type_labels.hpp"
#include "cloud/alibaba/launch/launch_request.hpp"
#include "simulate/world/clouds/remembering_cloud.hpp"
#include "unit/cloud/alibaba/fakes/fake_ecs.hpp"

#include <algorithm>

namespace millwright::test {
namespace {

using cloud::alibaba::FakeEcs;

class AlibabaWorldCloud final : public RememberingCloud {
 public:
  AlibabaWorldCloud(base::VirtualLoop& loop, const Schedule& schedule, MachineListener& listener)
      : RememberingCloud(loop, schedule, listener), ecs_(loop, http_) {
    cloud::alibaba::register_labels();
    machine_.variables = {{"ALIBABA_CLOUD_ACCESS_KEY_ID", "A"},
                          {"ALIBABA_CLOUD_ACCESS_KEY_SECRET", "S"}};
    api_.throttled = cloud::alibaba::rpc_error("Throttling.User", 400);
    ecs_.refuses_groups = schedule.seed % 4 == 0;  // launches one by one
    ecs_.on_launch = [this](const FakeEcs::Machine& made) { boot(instance_of(made)); };
    ecs_.on_termination = [this](const FakeEcs::Machine& made) {
      shut_down(instance_of(made).provider_id);
    };
  }

  std::unique_ptr<cloud::Provider> provider(ProviderParts parts) override {
    cloud::AlibabaSettings settings;
    settings.cluster_id = "c1";
    settings.seed = parts.seed;
    return std::make_unique<cloud::alibaba::AlibabaCloud>(
        cloud::alibaba::AlibabaCloud::Parts{
            .loop = parts.loop,
            .client = connect(parts),
            .settings = settings,
            .environment = machine_.environment(),
            .endpoints = *cloud::alibaba::Endpoints::make("cn-hangzhou", machine_.environment()),
            .metrics = parts.metrics,
            .log = {}},
        cloud::PriceFile{});
  }
  std::string node_class() const override { return std::string(cloud::alibaba::kNodeClass); }
  std::string node_class_ref() const override {
    return "group: karpenter.k8s.alibabacloud, kind: ECSNodeClass";
  }
  bool interrupt(const std::string& provider_id) override {
    auto* const machine = find_machine(ecs_.machines, provider_id);
    if (machine == nullptr || machine->state != "Running" || !machine->spot) {
      return false;
    }
    machine->recycling = true;
    loop_.after(kInterruptionNotice, [this, provider_id] { lose(provider_id); });
    return true;
  }
  void lose(const std::string& provider_id) override {
    if (const auto* machine = find_machine(ecs_.machines, provider_id);
        machine != nullptr && !machine->state.empty()) {
      end(provider_id);
    }
  }
  std::string claim_uid_of(const std::string& provider_id) const override {
    return tag_of(ecs_.machines, provider_id, cloud::alibaba::kClaimUidTag);
  }

 private:
  std::string change_in(const net::ClientRequest& request) const override {
    const std::string operation(request.headers.get("x-acs-action"));
    const bool tries = request.url.find("DryRun=true") != std::string::npos;
    return tries || only_asks(operation) ? std::string() : operation;
  }
  void set_lag(base::Duration lag) override {
    ecs_.lag = lag;
    for (auto& machine : ecs_.machines) {
      machine.visible_at = std::min(machine.visible_at, loop_.now() + lag);
    }
  }
  void restock() override {
    ecs_.sold_out.clear();
    for (const auto& type : FakeEcs::types()) {
      for (const std::string zone : {" z1", " z2"}) {
        if (is_sold_out()) {
          ecs_.sold_out.insert(type.name + zone);
        }
      }
    }
  }
  void forget(const std::string& provider_id) override {
    if (auto* machine = find_machine(ecs_.machines, provider_id)) {
      machine->state.clear();
    }
  }

  FakeEcs ecs_;
};

}  // namespace

std::unique_ptr<WorldCloud> make_alibaba_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                               MachineListener& listener) {
  return std::make_unique<AlibabaWorldCloud>(loop, schedule, listener);
}

}  // namespace millwright::test
