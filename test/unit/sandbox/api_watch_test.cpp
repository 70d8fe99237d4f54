// Lists, pages and watches.
#include "unit/sandbox/api_fixture.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class ApiWatch : public ApiFixture {
 protected:
  std::string version() { return std::to_string(server().resource_version()); }
  void make(const std::string& name, const std::string& more = {}) {
    ASSERT_EQ(post(kConfigMaps, config_map_text(name, more)).status, 201);
  }
  std::vector<std::string> names(const Reply& list) {
    std::vector<std::string> all;
    for (const auto& item : list.body.at("items").as_array()) {
      all.push_back(text_at(item, "metadata.name"));
    }
    return all;
  }
};

TEST_F(ApiWatch, ListsAreSortedAndNarrowedBySelectors) {
  make("b", R"("labels":{"tier":"web"})");
  make("a", R"("labels":{"tier":"db"})");
  make("c");
  EXPECT_THAT(names(get(kConfigMaps)), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names(get(std::string(kConfigMaps) + "?labelSelector=tier")), ElementsAre("a", "b"));
  EXPECT_THAT(names(get(std::string(kConfigMaps) + "?labelSelector=tier%21%3Ddb")),
              ElementsAre("b", "c"));
  EXPECT_THAT(names(get(std::string(kConfigMaps) + "?fieldSelector=metadata.name%3Dc")),
              ElementsAre("c"));
  EXPECT_THAT(names(get("/api/v1/configmaps")), ElementsAre("a", "b", "c"));
}

TEST_F(ApiWatch, PodsAreFoundByTheirNode) {
  post(kPods, pod_text("placed"));
  post(kPods, pod_text("waiting"));
  ASSERT_TRUE(server().bind({"default", "placed"}, "n1").has_value());
  EXPECT_THAT(names(get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1")), ElementsAre("placed"));
  EXPECT_THAT(names(get("/api/v1/pods?fieldSelector=spec.nodeName%3D%2Cstatus.phase%3DPending")),
              ElementsAre("waiting"));
}

TEST_F(ApiWatch, PagesJoinUpToTheWholeListAtOneVersion) {
  for (const auto* name : {"a", "b", "c", "d", "e"}) {
    make(name);
  }
  const auto first = get(std::string(kConfigMaps) + "?limit=2");
  EXPECT_THAT(names(first), ElementsAre("a", "b"));
  EXPECT_EQ(first.at("metadata.remainingItemCount"), "3");
  make("f");
  const auto token = net::url_encode(first.at("metadata.continue"));
  const auto second = get(std::string(kConfigMaps) + "?limit=10&continue=" + token);
  EXPECT_THAT(names(second), ElementsAre("c", "d", "e", "f"));
  EXPECT_EQ(second.at("metadata.resourceVersion"), first.at("metadata.resourceVersion"));
  EXPECT_EQ(second.at("metadata.continue"), "");
  EXPECT_EQ(get(std::string(kConfigMaps) + "?continue=nonsense").status, 400);
}

TEST_F(ApiWatch, AContinueTokenCanBeTooOld) {
  options.history = 2;
  for (const auto* name : {"a", "b", "c"}) {
    make(name);
  }
  const auto token =
      net::url_encode(get(std::string(kConfigMaps) + "?limit=1").at("metadata.continue"));
  for (const auto* name : {"d", "e", "f"}) {
    make(name);
  }
  const auto late = get(std::string(kConfigMaps) + "?limit=1&continue=" + token);
  EXPECT_EQ(late.status, 410);
  EXPECT_EQ(late.at("reason"), "Expired");
}

TEST_F(ApiWatch, AWatchTellsEveryChange) {
  make("before");
  auto stream = watch(std::string(kConfigMaps) + "?watch=1&resourceVersion=" + version());
  make("a");
  patch(std::string(kConfigMaps) + "/a", R"({"data":{"a":"2"}})");
  call("DELETE", std::string(kConfigMaps) + "/a");
  EXPECT_THAT(stream.events(), ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
}

TEST_F(ApiWatch, AWatchWithoutAVersionBeginsWithWhatExists) {
  make("a");
  make("b");
  auto stream = watch(std::string(kConfigMaps) + "?watch=true");
  EXPECT_THAT(stream.events(), ElementsAre("ADDED a", "ADDED b"));
}

TEST_F(ApiWatch, InitialEventsEndWithAMarkedBookmark) {
  make("a");
  auto stream =
      watch(std::string(kConfigMaps) + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true");
  const auto events = stream.raw();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(text_at(events[1], "type"), "BOOKMARK");
  EXPECT_EQ(text_at(events[1], "object.metadata.resourceVersion"), version());
  const auto& annotations = events[1].at("object").at("metadata").at("annotations").as_object();
  EXPECT_EQ(annotations.at("k8s.io/initial-events-end"), "true");
}

TEST_F(ApiWatch, AWatchResumesWhereTheLastOneStopped) {
  make("a");
  const auto then = version();
  make("b");
  make("c");
  auto stream = watch(std::string(kConfigMaps) + "?watch=1&resourceVersion=" + then);
  EXPECT_THAT(stream.events(), ElementsAre("ADDED b", "ADDED c"));
}

TEST_F(ApiWatch, AVersionThatIsTooOldIsGone) {
  options.history = 2;
  make("a");
  const auto then = version();
  for (const auto* name : {"b", "c", "d"}) {
    make(name);
  }
  auto stream = watch(std::string(kConfigMaps) + "?watch=1&resourceVersion=" + then);
  const auto events = stream.raw();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(text_at(events[0], "type"), "ERROR");
  EXPECT_EQ(text_at(events[0], "object.code"), "410");
  EXPECT_TRUE(stream.ended());
}

TEST_F(ApiWatch, LabelsMoveObjectsIntoAndOutOfAWatch) {
  make("a");
  auto stream = watch(std::string(kConfigMaps) +
                      "?watch=1&labelSelector=on%3Dyes&resourceVersion=" + version());
  patch(std::string(kConfigMaps) + "/a", R"({"metadata":{"labels":{"on":"yes"}}})");
  patch(std::string(kConfigMaps) + "/a", R"({"data":{"a":"2"}})");
  patch(std::string(kConfigMaps) + "/a", R"({"metadata":{"labels":{"on":null}}})");
  EXPECT_THAT(stream.events(), ElementsAre("ADDED a", "MODIFIED a", "DELETED a"));
}

TEST_F(ApiWatch, BookmarksComeRegularlyAndTheWatchEndsInTime) {
  auto stream =
      watch(std::string(kConfigMaps) +
            "?watch=1&allowWatchBookmarks=true&timeoutSeconds=150&resourceVersion=" + version());
  loop.run_for(seconds(130));
  EXPECT_THAT(stream.events(), ElementsAre("BOOKMARK ", "BOOKMARK "));
  EXPECT_FALSE(stream.ended());
  loop.run_for(seconds(30));
  EXPECT_TRUE(stream.ended());
}

TEST_F(ApiWatch, AWatchWhosePeerIsGoneGetsNothingMore) {
  auto stream = watch(std::string(kConfigMaps) + "?watch=1");
  stream.hang_up();
  loop.run_ready();
  make("a");
  EXPECT_THAT(stream.events(), IsEmpty());
}

TEST_F(ApiWatch, ACutStreamEndsBeforeTheEvent) {
  auto stream = watch(std::string(kConfigMaps) + "?watch=1");
  server().set_faults({.watch_cut_rate = 1});
  make("a");
  EXPECT_TRUE(stream.ended());
  EXPECT_THAT(stream.events(), IsEmpty());
}

TEST_F(ApiWatch, DelayedEventsKeepTheirOrder) {
  server().set_faults({.watch_delay = seconds(5)});
  auto stream = watch(std::string(kConfigMaps) + "?watch=1");
  make("a");
  make("b");
  make("c");
  EXPECT_THAT(stream.events(), SizeIs(testing::Lt(3U)));
  loop.run_for(seconds(6));
  EXPECT_THAT(stream.events(), ElementsAre("ADDED a", "ADDED b", "ADDED c"));
}

TEST_F(ApiWatch, EventsDoNotOvertakeThoseThatWereDelayedBefore) {
  server().set_faults({.watch_delay = seconds(5)});
  auto stream = watch(std::string(kConfigMaps) + "?watch=1");
  make("a");
  make("b");
  server().set_faults({});
  make("c");
  loop.run_for(seconds(6));
  EXPECT_THAT(stream.events(), ElementsAre("ADDED a", "ADDED b", "ADDED c"));
}

}  // namespace
}  // namespace millwright::sandbox
