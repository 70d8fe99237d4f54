// The real adapter over real HTTP against test/aws/facade.py, which verifies every signature. Run
// by `scripts/test aws`, which starts the facade and names it in MILLWRIGHT_AWS_FACADE.
#pragma once

#include "aws/support/facade.hpp"
#include "millwright/cloud/aws.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/net/client.hpp"
#include "support/loop_thread.hpp"
#include "support/records.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

namespace millwright::cloud {

namespace json = boost::json;
using base::ErrorKind;
using namespace std::chrono_literals;

class Adapter : public testing::Test {
 protected:
  void SetUp() override {
    if (test::Facade::url().empty()) {
      GTEST_SKIP() << "run by scripts/test aws";
    }
    environment = test::Facade::environment();
    client = net::make_client(thread.loop);
    control("/_facade/sold-out", "{}");
  }
  void TearDown() override {
    thread.call([this] {
      background.reset();
      cloud.reset();
    });
    EXPECT_THAT(records->text(),
                testing::Not(testing::HasSubstr(std::string(test::kFacadeSecret))));
    EXPECT_THAT(metrics.render(),
                testing::Not(testing::HasSubstr(std::string(test::kFacadeSecret))));
    if (!test::Facade::url()
             .empty()) {  // keys, session tokens and agents' tokens, in any request so far
      EXPECT_EQ(json::serialize(control("/_facade/ledger").at("leaks")), "[]");
    }
  }

  void start() {
    AwsSettings settings;
    settings.cluster_name = "demo";
    settings.enable_zonal_shift = zonal_shift;
    auto made = make_aws_cloud(
        thread.loop, *client, settings,
        [this](const std::string& name) -> std::optional<std::string> {
          const auto found = environment.find(name);
          return found == environment.end() ? std::nullopt : std::optional(found->second);
        },
        metrics, base::Logger(records, "aws"));
    ASSERT_TRUE(made) << made.error().message;
    cloud = *std::move(made);
    thread.call([this] {
      background = std::make_unique<base::TaskGroup>(thread.loop);
      background->spawn(cloud->run(background->stop_token()));
    });
  }

  void lead() {
    thread.call([this] { background->spawn(cloud->lead(background->stop_token())); });
  }
  // Until `is_so`, for a minute at most.
  bool wait_until(const std::function<bool()>& is_so) {
    struct Pause {
      static base::Task<bool> once(base::Loop& loop) {
        co_await base::sleep(loop, 100ms);
        co_return true;
      }
    };
    for (int i = 0; i < 600; ++i) {
      if (is_so()) {
        return true;
      }
      thread.run<bool>([this] { return Pause::once(thread.loop); });
    }
    return false;
  }

  // Until the region's types and prices are known.
  void wait_for_catalog() {
    struct Until {
      static base::Task<bool> known(base::Loop& loop, Provider& provider,
                                    std::shared_ptr<const model::NodeClass> of) {
        for (int i = 0; i < 600; ++i) {
          const auto types = provider.instance_types({}, *of);
          if (types && price_of(*types) != 0) {
            co_return true;
          }
          co_await base::sleep(loop, 100ms);
        }
        co_return false;
      }
      static double price_of(const scheduling::InstanceTypes& types) {
        const auto* type = scheduling::find_type(types, "m5.large");
        return type == nullptr || type->offerings.empty() ? 0 : type->offerings.front().price;
      }
    };
    const bool known =
        thread.run<bool>([this] { return Until::known(thread.loop, *cloud, the_class); });
    ASSERT_TRUE(known) << records->text();
  }

  std::shared_ptr<model::NodeClass> make_class() const {
    auto result = std::make_shared<model::NodeClass>();
    result->api_version = "karpenter.k8s.aws/v1";
    result->kind = "EC2NodeClass";
    result->meta.name = "default";
    result->meta.uid = "0b54bb6e-0000-4000-8000-000000000001";
    const json::array discovery{{{"tags", {{"karpenter.sh/discovery", "demo"}}}}};
    result->spec = {{"subnetSelectorTerms", discovery},
                    {"securityGroupSelectorTerms", discovery},
                    {"amiSelectorTerms", json::array{{{"alias", "al2023@latest"}}}},
                    {"role", "node-role"}};
    return result;
  }
  // Resolves the class, with more in its spec, through AWS and keeps what it found.
  NodeClassState resolve(const json::object& more = {}) {
    auto of = make_class();
    for (const auto& [key, value] : more) {
      of->spec.as_object()[key] = value;
    }
    auto state = thread.run<base::Result<NodeClassState>>([&] { return cloud->resolve(of); });
    EXPECT_TRUE(state) << state.error().message;
    if (state) {
      of->status = state->status;
      the_class = of;
    }
    return state ? *state : NodeClassState{};
  }

  std::shared_ptr<model::NodeClaim> claim_named(const std::string& name,
                                                std::vector<std::string> types) const {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = name;
    claim->meta.uid = "uid-" + name;
    claim->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
    claim->requirements = {
        {.key = "node.kubernetes.io/instance-type",
         .op = model::Operator::In,
         .values = std::move(types)},
        {.key = "karpenter.sh/capacity-type", .op = model::Operator::In, .values = {"on-demand"}},
        {.key = "topology.kubernetes.io/zone",
         .op = model::Operator::In,
         .values = {"us-west-2a"}}};
    return claim;
  }
  base::Result<Instance> create(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<Instance>>([&] { return cloud->create(claim, the_class); });
  }
  base::Result<> remove(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<>>([&] { return cloud->remove(claim); });
  }
  base::Result<std::vector<Instance>> list() {
    return thread.run<base::Result<std::vector<Instance>>>([&] { return cloud->list(); });
  }

  json::value control(const std::string& path, const std::string& body = "") {
    auto answer = facade.control(path, body);
    EXPECT_FALSE(answer.is_null()) << path;
    return answer;
  }
  std::int64_t calls(const std::string& action) { return facade.calls(action); }

  test::Facade facade;
  bool zonal_shift = false;  // set before start()
  test::LoopThread thread;
  std::map<std::string, std::string> environment;
  std::unique_ptr<net::Client> client;
  std::shared_ptr<test::Records> records = std::make_shared<test::Records>();
  base::Metrics metrics;
  std::unique_ptr<Provider> cloud;
  std::unique_ptr<base::TaskGroup> background;
  std::shared_ptr<const model::NodeClass> the_class;
};

}  // namespace millwright::cloud
