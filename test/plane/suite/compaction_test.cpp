// Etcd forgets what our watches would resume from: the API server answers 410, and the controller
// has to list again without missing anything that happened meanwhile.

#include "plane/suite/fixture.hpp"

namespace millwright::plane {
namespace {

constexpr std::string_view kGone = "the watched version is gone, listing again";

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Compaction, OfEtcdBetweenTwoWatchesLosesNothing) {
  ClusterOptions options;
  options.cloud = std::vector<std::string>{"--launch=1s", "--termination=0s"};
  options.faults = ProxyFaults{};
  // Else the API server answers from its own memory, and etcd's history does not matter.
  options.plane.api_server_flags = {"--watch-cache=false"};
  const auto cluster = Cluster::start(std::move(options));
  ASSERT_NE(cluster, nullptr);
  auto& plane = cluster->plane();
  for (const std::string name : {"stays", "goes"}) {
    cluster->apply(node_pool(name, "0s"));
    cluster->apply(deployment({.name = name, .replicas = 3, .pool = name}));
    cluster->wait_running(name, 3);
  }
  EXPECT_EQ(count_of(cluster->controller().process().log_text(), kGone), 0U);

  cluster->proxy().hold_watches();
  // Pods come, pods go, a claim is deleted, a pool changes: none of it is told to the controller.
  cluster->apply(node_pool("comes", "0s"));
  cluster->apply(deployment({.name = "comes", .replicas = 4, .pool = "comes"}));
  cluster->wait("the new pods are pending", seconds(60), [&] {
    return json::serialize(json::value_from(cluster->pods("comes"))).find("Unschedulable") !=
           std::string::npos;
  });
  cluster->kubectl({"delete", "deployment", "goes"});
  cluster->wait("the old pods are gone", seconds(60),
                [&] { return cluster->pods("goes").empty(); });
  const std::string claim = text_at(cluster->claims("stays").at(0), "/metadata/name");
  cluster->kubectl({"delete", "nodeclaim", claim, "--wait=false"});
  const auto compacted = plane.compact_etcd();
  ASSERT_TRUE(compacted.has_value()) << compacted.error().message;
  // A watch from before is refused now, or the rest would show nothing.
  const Answer old = plane.call("GET", std::string(kPods) + "?watch=1&resourceVersion=1");
  EXPECT_THAT(json::serialize(old.body), testing::HasSubstr("410"));
  EXPECT_TRUE(cluster->claims("comes").empty());
  cluster->proxy().release_watches();

  cluster->wait("the controller lists again", seconds(60),
                [&] { return count_of(cluster->controller().process().log_text(), kGone) >= 3; });
  cluster->wait_running("comes", 4);
  cluster->wait_no_nodes("goes");
  cluster->wait("the deleted claim's pods run on another node", seconds(120), [&] {
    const auto claims = cluster->claims("stays");
    return claims.size() == 1 && text_at(claims.front(), "/metadata/name") != claim &&
           cluster->running("stays") == 3 && cluster->nodes("stays").size() == 1;
  });
  EXPECT_EQ(cluster->cloud().instances().size(), cluster->claims().size());
  EXPECT_TRUE(cluster->controller().process().running());
  for (const std::string name : {"stays", "goes", "comes"}) {
    cluster->clean_up(name, name);
  }
  EXPECT_TRUE(cluster->cloud().instances().empty());
}

}  // namespace
}  // namespace millwright::plane
