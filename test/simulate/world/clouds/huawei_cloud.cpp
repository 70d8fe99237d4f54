// Huawei Cloud: a CCE cluster that remembers. It does not say which machines it will take back.
#include "cloud/huawei/huawei_cloud.hpp"

#include "cloud/huawei/catalog/catalog.hpp"
#include "cloud/huawei/launch/node_body.hpp"
#include "simulate/world/clouds/remembering_cloud.hpp"
#include "unit/cloud/huawei/fakes/fake_cce.hpp"

#include <algorithm>

namespace millwright::test {
namespace {

using cloud::huawei::FakeCce;

class HuaweiWorldCloud final : public RememberingCloud {
 public:
  HuaweiWorldCloud(base::VirtualLoop& loop, const Schedule& schedule, MachineListener& listener)
      : RememberingCloud(loop, schedule, listener), cce_(loop, http_) {
    cloud::huawei::register_labels();
    machine_.variables = {{"HUAWEICLOUD_SDK_AK", "A"}, {"HUAWEICLOUD_SDK_SK", "S"}};
    api_.throttled = cloud::huawei::refusal(429, "APIGW.0308", "too many requests");
    cce_.on_order = [this, boot_time = schedule.boot](const std::string& uid,
                                                      const FakeCce::Node& made) {
      claim_uids_[uid] = claim_uid_in(made);
      boot(instance_of(uid, made));
      loop_.after(boot_time, [this, uid] { set_active(uid); });
    };
    cce_.on_deletion = [this](const std::string& uid) { shut_down(uid); };
  }

  std::unique_ptr<cloud::Provider> provider(ProviderParts parts) override {
    return std::make_unique<cloud::huawei::HuaweiCloud>(
        cloud::huawei::HuaweiCloud::Parts{.loop = parts.loop,
                                          .client = connect(parts),
                                          .settings = {.seed = parts.seed},
                                          .environment = machine_.environment(),
                                          .endpoints = cloud::huawei::test_endpoints(),
                                          .cluster = "c1",
                                          .metrics = parts.metrics,
                                          .log = {}});
  }
  std::string node_class() const override { return std::string(cloud::huawei::kNodeClass); }
  std::string node_class_ref() const override {
    return "group: karpenter.k8s.huawei, kind: CCENodeClass";
  }
  bool interrupt(const std::string& /*provider_id*/) override { return false; }
  void lose(const std::string& provider_id) override {
    if (cce_.nodes.contains(provider_id)) {
      end(provider_id);
    }
  }
  std::string claim_uid_of(const std::string& provider_id) const override {
    const auto found = claim_uids_.find(provider_id);
    return found == claim_uids_.end() ? std::string() : found->second;
  }

 private:
  static std::string claim_uid_in(const FakeCce::Node& made) {
    const auto* tags = model::find_path(made.body, "spec.k8sTags");
    return tags == nullptr
               ? std::string()
               : std::string(tags->at(std::string(cloud::huawei::kClaimUidTag)).as_string());
  }
  void set_active(const std::string& uid) {
    const auto node = cce_.nodes.find(uid);
    if (node != cce_.nodes.end() && node->second.phase == "Build") {
      node->second.phase = "Active";
    }
  }
  std::string change_in(const net::ClientRequest& request) const override {
    const std::string path = request.url.substr(0, request.url.find('?'));
    const bool of_nodes = path.find("/nodes") != std::string::npos;
    return request.method != "GET" && of_nodes ? request.method + " " + path : std::string();
  }
  void set_lag(base::Duration lag) override {
    cce_.lag = lag;
    for (auto& [uid, node] : cce_.nodes) {
      node.visible_at = std::min(node.visible_at, loop_.now() + lag);
    }
  }
  void restock() override {
    cce_.sold_out.clear();
    for (const std::string flavor : {"c9.large.4", "c9.xlarge.4"}) {
      for (const std::string zone : {"az-a", "az-b"}) {
        if (is_sold_out()) {
          cce_.sold_out.insert({flavor, zone});
        }
      }
    }
  }
  void forget(const std::string& provider_id) override { cce_.nodes.erase(provider_id); }

  FakeCce cce_;
  std::map<std::string, std::string> claim_uids_;  // by node
};

}  // namespace

std::unique_ptr<WorldCloud> make_huawei_cloud(base::VirtualLoop& loop, const Schedule& schedule,
                                              MachineListener& listener) {
  return std::make_unique<HuaweiWorldCloud>(loop, schedule, listener);
}

}  // namespace millwright::test
