// Many claims at once: how many calls they cost, on an Alibaba Cloud that remembers.
#include "cloud/alibaba/catalog/type_labels.hpp"
#include "unit/cloud/alibaba/fakes/fake_ecs.hpp"
#include "unit/cloud/fakes/burst.hpp"

namespace millwright::cloud::alibaba {
namespace {

using namespace std::chrono_literals;

class AlibabaBurst : public testing::Test {
 protected:
  AlibabaBurst() {
    register_labels();
    machine.variables = {{"ALIBABA_CLOUD_ACCESS_KEY_ID", "A"},
                         {"ALIBABA_CLOUD_ACCESS_KEY_SECRET", "S"}};
    AlibabaSettings settings;
    settings.cluster_id = "c1";
    cloud = std::make_unique<AlibabaCloud>(
        AlibabaCloud::Parts{.loop = loop,
                            .client = http,
                            .settings = settings,
                            .environment = machine.environment(),
                            .endpoints = *Endpoints::make("cn-hangzhou", machine.environment()),
                            .metrics = metrics,
                            .log = {}},
        PriceFile{});
    background = std::make_unique<base::TaskGroup>(loop);
    background->spawn(cloud->run(background->stop_token()));
    loop.run_for(1min);
    the_class->meta.name = "main";
    the_class->spec = model::parse_json(R"({"vSwitchSelectorTerms":[{"tags":{"a":"b"}}],
      "securityGroupSelectorTerms":[{"tags":{"a":"b"}}],
      "imageSelectorTerms":[{"alias":"ContainerOS"}]})")
                          .value();
    the_class->status = wait(loop, cloud->resolve(the_class)).value().status;
    http.requests.clear();
  }

  base::VirtualLoop loop{kStart};
  FakeHttp http{loop};
  FakeEcs ecs{loop, http};
  FakeMachine machine;
  base::Metrics metrics;
  std::unique_ptr<AlibabaCloud> cloud;
  std::unique_ptr<base::TaskGroup> background;
  std::shared_ptr<model::NodeClass> the_class = std::make_shared<model::NodeClass>();
};

// A call each, because an instance is found again by the tag of its claim; and nothing else but the
// script that all of them run.
TEST_F(AlibabaBurst, TwoHundredClaimsAreTwoHundredAndOneCalls) {
  Burst burst(loop, *cloud, the_class);
  const auto took = burst.launch(200);
  EXPECT_EQ(burst.different().size(), 200U);
  EXPECT_EQ(ecs.living().size(), 200U);
  EXPECT_EQ(ecs.calls["CreateAutoProvisioningGroup"], 200);
  EXPECT_EQ(ecs.calls["DescribeClusterAttachScripts"], 1);
  EXPECT_EQ(http.requests.size(), 201U);
  EXPECT_LT(took, 3s);
}

TEST_F(AlibabaBurst, ManyReadsAreOneCallForEachHundred) {
  Burst burst(loop, *cloud, the_class);
  burst.launch(200);
  const auto before = ecs.calls["DescribeInstances"];
  int found = 0;
  struct Run {
    static base::Task<void> get(Provider& from, std::string id, int& found) {
      auto read = co_await from.get(std::move(id));
      found += read ? 1 : 0;
    }
  };
  for (const auto& id : burst.different()) {
    background->spawn(Run::get(*cloud, id, found));
  }
  loop.run_for(10s);
  EXPECT_EQ(found, 200);
  EXPECT_EQ(ecs.calls["DescribeInstances"] - before, 2);
}

TEST_F(AlibabaBurst, AScriptThatCannotBeHadFailsAllThatWait) {
  const auto answer = http.handler;
  http.handler = [&](const net::ClientRequest& request) -> base::Result<net::Response> {
    return request.headers.get("x-acs-action") == "DescribeClusterAttachScripts"
               ? rpc_error("Forbidden", 403)
               : answer(request);
  };
  int denied = 0;
  struct Run {
    static base::Task<void> create(Provider& in, ClaimPtr claim, NodeClassPtr of, int& denied) {
      auto made = co_await in.create(std::move(claim), std::move(of));
      denied += !made && made.error().kind == base::ErrorKind::Denied ? 1 : 0;
    }
  };
  for (int i = 0; i < 5; ++i) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = "c" + std::to_string(i);
    claim->meta.uid = "uid-" + claim->meta.name;
    background->spawn(Run::create(*cloud, claim, the_class, denied));
  }
  loop.run_for(10s);
  EXPECT_EQ(denied, 5);
  EXPECT_EQ(http.requests.size(), 1U);
  EXPECT_TRUE(ecs.machines.empty());
}

}  // namespace
}  // namespace millwright::cloud::alibaba
