// A provider on an EC2 that remembers, whose process can end and be started anew.
#pragma once

#include "cloud/aws/aws_cloud.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "unit/cloud/aws/fakes/fake_ec2.hpp"

#include <boost/json.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace millwright::cloud::aws {

inline std::shared_ptr<model::NodeClaim> claim_named(const std::string& name) {
  auto claim = std::make_shared<model::NodeClaim>();
  claim->meta.name = name;
  claim->meta.uid = "uid-" + name;
  claim->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
  claim->meta.creation_timestamp = kStart + std::chrono::minutes(1);
  claim->requirements = {{.key = "node.kubernetes.io/instance-type",
                          .op = model::Operator::In,
                          .values = {"m5.large", "m6i.large"}}};
  return claim;
}

class ProviderTest : public testing::Test {
 public:
  ProviderTest() : loop(kStart), http(loop), ec2(loop, http) {
    register_labels();
    machine.variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}};
    start();
    loop.run_for(std::chrono::minutes(1));
  }
  ~ProviderTest() override { crash(); }

  void start() {
    auto endpoints = Endpoints::make("us-west-2", machine.environment());
    AwsSettings settings;
    settings.cluster_name = "demo";
    settings.cluster_endpoint = "https://api.example";
    settings.kubernetes_version = "1.31";
    settings.service_cidr = "10.100.0.0/16";
    settings.interruption_queue = queue;
    settings.price_cache = price_cache;
    settings.disable_dry_run = !dry_run;
    settings.reserved_capacity = reserved_capacity;
    settings.enable_zonal_shift = zonal_shift;
    settings.cluster_ca_bundle = cluster_ca_bundle;
    settings.api_server_ca = "Q0E=";
    cloud = std::make_unique<AwsCloud>(AwsCloud::Parts{.loop = loop,
                                                       .client = http,
                                                       .settings = settings,
                                                       .environment = machine.environment(),
                                                       .endpoints = *endpoints,
                                                       .metrics = metrics,
                                                       .log = {}},
                                       PriceFile{});
    cloud->set_recorded([this](std::string_view id) { return recorded.contains(id); });
    cloud->on_catalog_change([this] { ++catalog_changes; });
    background = std::make_unique<base::TaskGroup>(loop);
    background->spawn(cloud->run(background->stop_token()));
    background->spawn(cloud->lead(background->stop_token()));
    cloud->on_interruption([this](const InstanceNotice& notice) {
      if (notice.action != InstanceNotice::Action::Tell) {
        interrupted.push_back(notice.provider_id);
      }
      notices.push_back(notice.kind + " " + notice.provider_id);
      return acted(nobody_acts);
    });
  }
  static base::Task<base::Result<>> acted(bool fails) {
    if (fails) {
      co_return base::fail(base::ErrorKind::Unavailable, "the API server is not there");
    }
    co_return base::Result<>{};
  }
  // Everything that was under way is gone.
  void crash() {
    background.reset();
    cloud.reset();
  }

  // A class that finds what FakeEc2::answer_discovery() tells, with more in its spec; not resolved.
  static std::shared_ptr<model::NodeClass> discovering_class(const boost::json::object& more = {}) {
    boost::json::object spec{{"amiFamily", "AL2023"},
                             {"instanceProfile", "profile-1"},
                             {"amiSelectorTerms", boost::json::array{{{"id", "ami-amd"}}}},
                             {"subnetSelectorTerms", boost::json::array{{{"tags", {{"a", "b"}}}}}},
                             {"securityGroupSelectorTerms", boost::json::array{{{"id", "sg-1"}}}}};
    for (const auto& [key, value] : more) {
      spec[key] = value;
    }
    return node_class(std::move(spec), boost::json::object{});
  }

  base::Result<Instance> create(const std::shared_ptr<model::NodeClaim>& claim) {
    return wait(loop, cloud->create(claim, the_class));
  }
  // As a reconciler would: each asked for again until it has its instance.
  base::Task<void> keep_asking(std::shared_ptr<const model::NodeClaim> claim) {
    while (!given.contains(claim->meta.name)) {
      auto answer = co_await cloud->create(claim, the_class);
      if (answer) {
        given[claim->meta.name] = answer->provider_id;
        co_return;
      }
      refusals[claim->meta.name] = answer.error();
      const auto kind = answer.error().kind;
      if (kind != base::ErrorKind::Timeout && kind != base::ErrorKind::Unavailable) {
        co_return;
      }
      co_await base::sleep(loop, std::chrono::seconds(1));
    }
  }
  void ask_at_once(const std::vector<std::shared_ptr<model::NodeClaim>>& claims) {
    for (const auto& claim : claims) {
      background->spawn(keep_asking(claim));
    }
  }
  bool is_available(const std::string& type, const std::string& zone) {
    const auto types = cloud->instance_types({}, *the_class);
    const auto* found = scheduling::find_type(*types, type);
    return std::any_of(found->offerings.begin(), found->offerings.end(), [&](const auto& offering) {
      return offering.zone() == zone && offering.available;
    });
  }

  FakeMachine machine;
  base::VirtualLoop loop;
  FakeHttp http;
  FakeEc2 ec2;
  base::Metrics metrics;
  std::unique_ptr<AwsCloud> cloud;
  std::unique_ptr<base::TaskGroup> background;
  std::shared_ptr<model::NodeClass> the_class = node_class({{"amiFamily", "AL2023"}});
  std::map<std::string, std::string> given;  // by claim: provider id
  std::map<std::string, base::Error> refusals;
  std::set<std::string, std::less<>> recorded;  // provider ids on claims
  int catalog_changes = 0;
  std::vector<std::string> interrupted;
  std::vector<std::string> notices;  // "spot_interrupted aws:///us-west-2a/i-1"
  std::string queue;                 // name; set before start()
  std::string price_cache;
  bool nobody_acts = false;  // on notices
  bool dry_run = false;      // set before start()
  bool reserved_capacity = true;
  bool zonal_shift = false;
  std::string cluster_ca_bundle;
};

}  // namespace millwright::cloud::aws
