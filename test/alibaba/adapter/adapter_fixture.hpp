// The real adapter over real HTTP against test/alibaba/facade.py, which verifies every signature.
// Run by `scripts/test alibaba`, which starts the facade and names it in MILLWRIGHT_ALIBABA_FACADE.
#pragma once

#include "millwright/base/random.hpp"
#include "millwright/cloud/alibaba.hpp"
#include "support/cloud_adapter.hpp"

namespace millwright::cloud {

namespace json = boost::json;
using base::ErrorKind;

// The facade's cluster and keys.
inline constexpr std::string_view kCluster = "c0123456789abcdef";
inline constexpr std::string_view kSecret = "not-a-real-secret-0123456789abc";
inline constexpr std::string_view kZoneH = "cn-hangzhou-h";
inline constexpr std::string_view kZoneI = "cn-hangzhou-i";

class AlibabaAdapter : public test::CloudAdapter {
 protected:
  AlibabaAdapter() : CloudAdapter("MILLWRIGHT_ALIBABA_FACADE", {std::string(kSecret)}) {}
  void SetUp() override {
    CloudAdapter::SetUp();
    if (url.empty()) {
      return;
    }
    environment = {{"ALIBABA_CLOUD_REGION_ID", "cn-hangzhou"},
                   {"ALIBABA_CLOUD_ACCESS_KEY_ID", "LTAIMILLWRIGHTTEST00"},
                   {"ALIBABA_CLOUD_ACCESS_KEY_SECRET", std::string(kSecret)}};
    for (const std::string service : {"ECS", "VPC", "CS", "STS"}) {
      environment[service + "_ENDPOINT"] = url;
    }
    for (const std::string what : {"sold-out", "hostile"}) {
      control("/_facade/" + what, "{}");
    }
    for (const std::string what : {"late", "starting", "releasing", "stale"}) {
      control("/_facade/" + what, R"({"seconds":0})");
    }
    refused_before_ = refused_signatures();
  }
  void TearDown() override {
    CloudAdapter::TearDown();
    if (!url.empty()) {
      EXPECT_EQ(refused_signatures() > refused_before_, signs_wrongly) << records->tail();
    }
  }

  base::Result<std::unique_ptr<Provider>> make() override {
    AlibabaSettings settings;
    settings.cluster_id = kCluster;
    settings.seed = base::entropy_seed();
    return make_alibaba_cloud(thread.loop, *client, settings, lookup(), metrics,
                              base::Logger(records, "alibaba"));
  }
  // Begins, and waits until types and prices are known.
  void start() {
    begin();
    resolve(ecs_class());
    // Prices come after the types, and change what is cheapest.
    ASSERT_TRUE(wait_until([this] { return price_of("ecs.r7.large") != 0; })) << records->tail();
  }
  static std::shared_ptr<model::NodeClass> ecs_class() {
    auto of = std::make_shared<model::NodeClass>();
    of->kind = "ECSNodeClass";
    of->meta.name = "default";
    const json::array discovery{
        json::object{{"tags", json::object{{"karpenter.sh/discovery", "demo"}}}}};
    of->spec =
        json::object{{"vSwitchSelectorTerms", discovery},
                     {"securityGroupSelectorTerms", discovery},
                     {"imageSelectorTerms", json::array{json::object{{"alias", "ContainerOS"}}}}};
    return of;
  }
  static std::shared_ptr<model::NodeClaim> claim_named(const std::string& name,
                                                       std::vector<std::string> types = {
                                                           "ecs.g7.large"}) {
    auto claim = CloudAdapter::claim_named(name, std::move(types));
    require(*claim, model::kCapacityTypeLabel, {std::string(model::kOnDemand)});
    return claim;
  }
  // Fails to launch the claim; then another process begins.
  void lose_process_with(const std::shared_ptr<model::NodeClaim>& claim) {
    const auto created = thread.loop.now();
    claim->meta.creation_timestamp = created;
    EXPECT_FALSE(create(claim));
    stop();
    // The API server's time stamps are of whole seconds.
    wait_until([&] { return thread.loop.now() >= created + std::chrono::seconds(1); });
    start();
  }
  std::int64_t refused_signatures() {
    return control("/_facade/ledger").at("badSignatures").as_int64();
  }
  // The order, for so many calls of the action.
  void order(const std::string& what, const std::string& action, int count) {
    const json::object body{{"action", action}, {"count", count}};
    control("/_facade/" + what, json::serialize(body));
  }
  void refuse(const std::string& action, const std::string& code, int count = 1) {
    const json::object body{{"action", action}, {"code", code}, {"count", count}};
    control("/_facade/refuse", json::serialize(body));
  }
  void sell_out(std::string_view type, std::string_view zone) {
    control("/_facade/sold-out", json::serialize(json::object{{"type", type}, {"zone", zone}}));
  }
  void wait_out(const std::string& what, double seconds) {
    control("/_facade/" + what, json::serialize(json::object{{"seconds", seconds}}));
  }
  void answer_hostile(const std::string& action, const std::string& answer) {
    control("/_facade/hostile",
            json::serialize(json::object{{"action", action}, {"answer", answer}}));
  }
  static std::string id_of(std::string_view provider_id) {
    return std::string(provider_id.substr(provider_id.find('.') + 1));
  }
  // What the facade keeps of an instance.
  json::object machine(std::string_view provider_id) {
    const auto machines = control("/_facade/machines");
    for (const auto& each : machines.as_array()) {
      if (each.at("id").as_string() == id_of(provider_id)) {
        return each.as_object();
      }
    }
    ADD_FAILURE() << provider_id << " is not there";
    return {};
  }
  bool is_gone(std::string_view provider_id) { return machine(provider_id).at("gone").as_bool(); }
  void change(std::string_view provider_id, json::object fields) {
    fields["instance"] = id_of(provider_id);
    control("/_facade/change", json::serialize(fields));
  }
  std::int64_t launched_for(const std::string& claim) { return counted("asked", "uid-" + claim); }

  bool signs_wrongly = false;  // on purpose

 private:
  std::int64_t refused_before_ = 0;
};

}  // namespace millwright::cloud
