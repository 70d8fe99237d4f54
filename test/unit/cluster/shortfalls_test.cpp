// How many pods are still to come: WorkloadTable, PodTable's owners and Shortfalls.
#include "cluster/demand/shortfalls.hpp"

#include "cluster/demand/quota_table.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace millwright::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PodBuilder;

struct WorkloadSpec {
  std::string kind = "ReplicaSet";
  std::string name = "web";
  std::string uid = "web-1";
  std::string version;
  std::int32_t pods = 0;
  bool at_once = true;
};

model::Workload workload(const WorkloadSpec& spec) {
  model::Workload out{.kind = spec.kind, .meta = {}, .pods = spec.pods, .at_once = spec.at_once};
  out.meta.name = spec.name;
  out.meta.namespace_ = "default";
  out.meta.uid = spec.uid;
  out.meta.resource_version = spec.version;
  return out;
}

// A table that knows the ReplicaSet default/web with uid web-1 at version 5, which wants 3 pods.
WorkloadTable with_three_pods() {
  WorkloadTable table;
  EXPECT_THAT(table.put(workload({.version = "5", .pods = 3})), ElementsAre("web-1"));
  return table;
}

TEST(WorkloadTable, TellsWhoseWantsChanged) {
  struct Case {
    std::string_view title;
    WorkloadSpec put;
    std::vector<std::string> changed;
    std::int32_t pods;  // that web-1 wants afterwards
  };
  for (const auto& test : std::vector<Case>{
           {"the same again", {.version = "6", .pods = 3}, {}, 3},
           {"another number", {.version = "6", .pods = 4}, {"web-1"}, 4},
           {"another way", {.version = "6", .pods = 3, .at_once = false}, {"web-1"}, 3},
           {"none any more", {.version = "6", .pods = 0}, {"web-1"}, 0},
           {"an older event", {.version = "4", .pods = 9}, {}, 3},
           {"a version that says nothing", {.version = "x", .pods = 9}, {"web-1"}, 9},
           {"a new object of the name",
            {.uid = "web-2", .version = "7", .pods = 2},
            {"web-1", "web-2"},
            0},
           {"a new object that wants none",
            {.uid = "web-2", .version = "7", .pods = 0},
            {"web-1"},
            0},
           {"another kind of the name",
            {.kind = "Job", .uid = "job", .version = "7", .pods = 2},
            {"job"},
            3},
           {"another that wants none", {.name = "old", .uid = "old", .version = "7"}, {}, 3},
           {"an object without a uid", {.name = "x", .uid = "", .pods = 1}, {}, 3},
       }) {
    WorkloadTable table = with_three_pods();
    EXPECT_EQ(table.put(workload(test.put)), test.changed) << test.title;
    const auto* const wants = table.find("web-1");
    EXPECT_EQ(wants == nullptr ? 0 : wants->pods, test.pods) << test.title;
    if (wants != nullptr && !test.changed.empty() && test.changed[0] == "web-1") {
      EXPECT_EQ(wants->at_once, test.put.at_once) << test.title;
    }
  }
}

TEST(WorkloadTable, ForgetsWhatIsGone) {
  struct Case {
    std::string_view kind;
    model::ObjectKey key;
    std::string_view uid;
    bool gone;
  };
  for (const auto& [kind, key, uid, gone] : std::vector<Case>{
           {"ReplicaSet", {"default", "web"}, "", true},
           {"ReplicaSet", {"default", "web"}, "web-1", true},
           {"ReplicaSet", {"default", "web"}, "web-0", false},
           {"ReplicaSet", {"other", "web"}, "", false},
           {"ReplicaSet", {"default", "api"}, "", false},
           {"Job", {"default", "web"}, "", false},
       }) {
    WorkloadTable table = with_three_pods();
    EXPECT_EQ(table.erase(kind, key, uid).size(), gone ? 1U : 0U) << key.to_string();
    EXPECT_EQ(table.find("web-1") == nullptr, gone) << key.to_string();
    EXPECT_EQ(table.put(workload({.version = "6", .pods = 3})).size(), gone ? 1U : 0U);
  }
}

TEST(QuotaTable, KeepsTheQuotasOfEachNamespaceByName) {
  const auto quota = [](const std::string& ns, const std::string& name, int version,
                        std::int64_t pods) {
    model::ResourceQuota out;
    out.meta.namespace_ = ns;
    out.meta.name = name;
    out.meta.resource_version = std::to_string(version);
    out.hard.emplace(model::kPods, model::Quantity::from_units(pods));
    return std::make_shared<const model::ResourceQuota>(out);
  };
  QuotaTable table;
  const auto text = [&table](std::string_view ns) {
    std::string out;
    for (const auto& item : table.in_namespace(ns)) {
      out += item->meta.name + "=" + model::get(item->hard, model::kPods).to_string() + " ";
    }
    return out;
  };
  EXPECT_TRUE(table.put(quota("shop", "b", 1, 10)));
  EXPECT_TRUE(table.put(quota("shop", "a", 2, 20)));
  EXPECT_TRUE(table.put(quota("bank", "a", 3, 30)));
  EXPECT_EQ(text("shop"), "a=20 b=10 ");
  EXPECT_EQ(text("bank"), "a=30 ");
  EXPECT_EQ(text("none"), "");
  EXPECT_FALSE(table.put(quota("shop", "b", 4, 10)));
  EXPECT_FALSE(table.put(quota("shop", "b", 3, 99)));  // older
  EXPECT_TRUE(table.put(quota("shop", "b", 5, 11)));
  EXPECT_EQ(text("shop"), "a=20 b=11 ");
  EXPECT_TRUE(table.erase({"a", "shop"}));
  EXPECT_FALSE(table.erase({"a", "shop"}));
  EXPECT_FALSE(table.erase({"a", "none"}));
  EXPECT_EQ(text("shop"), "b=11 ");
}

// The tables as State keeps them.
class Owners {
 public:
  Owners& pod(const PodBuilder& pod) { return settle(pods_.put(pod.build()).owners); }
  Owners& gone(const std::string& pod) { return settle(pods_.remove({"default", pod}, "").owners); }
  Owners& wants(std::int32_t pods, bool at_once = true, const std::string& owner = "web-1",
                const std::string& version = "") {
    workloads_.put(workload({.name = "of-" + owner,
                             .uid = owner,
                             .version = version,
                             .pods = pods,
                             .at_once = at_once}));
    shortfalls_.workload_heard(owner, workloads_, pods_, now_);
    return *this;
  }
  Owners& workload_gone(const std::string& owner = "web-1") {
    return settle(workloads_.erase("ReplicaSet", {"default", "of-" + owner}));
  }

  // "2 like web-b"; "-" when nothing is known of the owner's pods.
  std::string owned(std::string_view owner = "web-1") const {
    const OwnedPods* const owned = pods_.owned_by(owner);
    return owned == nullptr ? "-"
                            : std::to_string(owned->alive) + " like " + owned->sample->meta.name;
  }
  // "web-1: 2 now, 1 later, like b", "web-1: a, b"
  std::vector<std::string> missing() const {
    std::vector<std::string> out;
    shortfalls_.for_each([&out](const Shortfall& shortfall) {
      std::string line = shortfall.sample->meta.controller()->uid + ":";
      line += shortfall.expected > 0 ? " " + std::to_string(shortfall.expected) + " now," : "";
      line += shortfall.later > 0 ? " " + std::to_string(shortfall.later) + " later," : "";
      for (const scheduling::PodPtr& pod : shortfall.away) {
        line += " " + pod->meta.name + ",";
      }
      line.pop_back();
      out.push_back(line + (shortfall.away.empty() ? ", like " + shortfall.sample->meta.name : ""));
    });
    return out;
  }
  std::map<std::string, std::int32_t> how_many() const {
    std::map<std::string, std::int32_t> out;
    shortfalls_.for_each([&out](const Shortfall& shortfall) {
      out[shortfall.sample->meta.controller()->uid] = shortfall.expected + shortfall.later;
    });
    return out;
  }
  const OwnedPods* find(std::string_view owner) const { return pods_.owned_by(owner); }
  std::int32_t unsettled() const { return shortfalls_.unsettled(); }
  std::int32_t surplus_pods() const { return shortfalls_.surplus_pods(); }
  Owners& wait(int for_seconds) {
    now_ += std::chrono::seconds(for_seconds);
    shortfalls_.expire(now_);
    return *this;
  }
  Owners& wants_none(const std::string& owner = "web-1") {
    workload_gone(owner);
    shortfalls_.wants_none(owner, pods_);
    return *this;
  }

 private:
  Owners& settle(const std::vector<std::string>& owners) {
    for (const std::string& owner : owners) {
      shortfalls_.pods_changed(owner, workloads_, pods_, now_);
    }
    return *this;
  }

  PodTable pods_;
  WorkloadTable workloads_;
  Shortfalls shortfalls_;
  base::TimePoint now_ = testing::at(0);
};

PodBuilder of_web(const std::string& name, std::int64_t created = 0) {
  return PodBuilder(name).created(created).owned_by("web-1");
}

TEST(PodTable, CountsTheLivingPodsOfEachController) {
  struct Case {
    std::string_view title;
    std::function<void(Owners&)> events;  // after pods a and b of web-1, b the younger
    std::string_view owned;
  };
  for (const auto& [title, events, owned] : std::vector<Case>{
           {"nothing else", [](Owners&) {}, "2 like b"},
           {"an older pod", [](Owners& o) { o.pod(of_web("c", -5)); }, "3 like b"},
           {"a younger pod", [](Owners& o) { o.pod(of_web("c", 5)); }, "3 like c"},
           {"a bound pod", [](Owners& o) { o.pod(of_web("a").on("n")); }, "2 like b"},
           {"a deleted pod", [](Owners& o) { o.gone("a"); }, "1 like b"},
           {"the youngest is deleted", [](Owners& o) { o.gone("b"); }, "1 like b"},
           {"a younger one than the deleted", [](Owners& o) { o.gone("b").pod(of_web("c", 2)); },
            "2 like c"},
           {"a deleting pod", [](Owners& o) { o.pod(of_web("a").deleting()).gone("a"); },
            "1 like b"},
           {"a pod that ended", [](Owners& o) { o.pod(of_web("b", 1).phase("Failed")).gone("b"); },
            "1 like b"},
           {"another controller", [](Owners& o) { o.pod(PodBuilder("c").owned_by("api-1")); },
            "2 like b"},
           {"a pod without one", [](Owners& o) { o.pod(PodBuilder("c")); }, "2 like b"},
           {"a pod that leaves its controller",
            [](Owners& o) { o.pod(PodBuilder("a").created(0)); }, "1 like b"},
           {"a pod of the same name", [](Owners& o) { o.pod(of_web("a", 9).uid("new").on("n")); },
            "2 like a"},
           {"the last pod goes", [](Owners& o) { o.gone("a").gone("b"); }, "-"},
           {"the last pod goes, and more are wanted",
            [](Owners& o) { o.wants(1).gone("a").gone("b"); }, "0 like b"},
           {"later none are wanted", [](Owners& o) { o.wants(1).gone("a").gone("b").wants(0); },
            "-"},
           {"later the workload is gone",
            [](Owners& o) { o.wants(1).gone("a").gone("b").workload_gone(); }, "-"},
           {"the workload goes first", [](Owners& o) { o.wants(1).workload_gone(); }, "2 like b"},
       }) {
    Owners owners;
    owners.pod(of_web("a")).pod(of_web("b", 1));
    events(owners);
    EXPECT_EQ(owners.owned(), owned) << title;
  }
}

TEST(PodTable, CountsNeitherDaemonsNorMirrorPods) {
  Owners owners;
  owners.pod(PodBuilder("a").owned_by_daemon_set()).pod(PodBuilder("b").owned_by(""));
  EXPECT_EQ(owners.owned("uid-agent"), "-");
  EXPECT_EQ(owners.owned(""), "-");
  model::Pod mirror = PodBuilder("m").value();
  mirror.meta.owner_references = {
      {.api_version = "v1", .kind = "Node", .name = "n", .uid = "uid-n", .controller = true}};
  PodTable table;
  EXPECT_THAT(table.put(std::make_shared<const model::Pod>(mirror)).owners, IsEmpty());
  EXPECT_EQ(table.owned_by("uid-n"), nullptr);
}

TEST(PodTable, KnowsWhatPodsTakeOfQuotas) {
  PodTable table;
  const auto use = [&table](std::string_view ns) {
    const model::QuotaUse taken = table.use().of(ns);
    return std::to_string(taken.objects) + " " + model::to_string(taken.requests);
  };
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(use("default"), "0 {}");
  table.put(PodBuilder("a").requests(100).build());
  table.put(PodBuilder("b").requests(200).build());
  table.put(PodBuilder("c").in("shop").requests(400).build());
  EXPECT_EQ(use("default"), "2 {cpu: 300m, pods: 2}");
  EXPECT_EQ(use("shop"), "1 {cpu: 400m, pods: 1}");
  table.put(PodBuilder("b").requests(200).on("n").build());
  table.put(PodBuilder("greedy").requests(huge).build());
  table.put(PodBuilder("too").requests(huge).build());
  EXPECT_EQ(table.use().of("default").objects, 4);
  table.remove({"default", "greedy"}, "");
  table.remove({"default", "too"}, "");
  table.put(PodBuilder("a").requests(100).phase("Succeeded").build());
  EXPECT_EQ(use("default"), "2 {cpu: 200m, pods: 1}");
  table.put(PodBuilder("a").requests(100).phase("Succeeded").version(2).build());
  table.remove({"default", "b"}, "");
  EXPECT_EQ(use("default"), "1 {}");
  table.remove({"default", "a"}, "");
  EXPECT_EQ(use("default"), "0 {}");
}

TEST(PodTable, ItsSampleIsTheNewestVersionOfThePod) {
  Owners owners;
  owners.pod(of_web("a").version(1)).pod(of_web("a").version(2).on("n"));
  EXPECT_EQ(owners.find("web-1")->sample->spec.node_name, "n");
  owners.wants(1).pod(of_web("a").version(3).on("n").phase("Succeeded"));
  EXPECT_EQ(owners.find("web-1")->sample->spec.containers.size(), 1U);  // not only its identity
}

TEST(Shortfalls, KnowTheOwnersWhoseControllerHasSomethingToDo) {
  struct Case {
    std::string_view title;
    std::function<void(Owners&)> events;  // after pods a and b of web-1
    std::int32_t unsettled;
    std::int32_t surplus_pods = 0;
  };
  for (const auto& [title, events, unsettled, surplus_pods] : std::vector<Case>{
           {"nothing is known of the workload", [](Owners&) {}, 0},
           {"enough", [](Owners& o) { o.wants(2); }, 0},
           {"too few", [](Owners& o) { o.wants(5); }, 1},
           {"too many", [](Owners& o) { o.wants(1); }, 1, 1},
           {"one after another", [](Owners& o) { o.wants(5, false); }, 0},
           {"the last one too many is being deleted",
            [](Owners& o) { o.wants(1).pod(of_web("b", 1).deleting()); }, 0},
           {"the missing one comes", [](Owners& o) { o.wants(3).pod(of_web("c", 2)); }, 0},
           {"all are gone", [](Owners& o) { o.wants(5).gone("a").gone("b").workload_gone(); }, 0},
           {"two workloads",
            [](Owners& o) {
              o.wants(5).pod(PodBuilder("c").owned_by("api-1")).wants(2, true, "api-1");
            },
            2},
           {"none is wanted any more", [](Owners& o) { o.wants(2).wants_none(); }, 1, 2},
           {"one of these goes", [](Owners& o) { o.wants(2).wants_none().gone("a"); }, 1, 1},
           {"the other, too",
            [](Owners& o) { o.wants(2).wants_none().gone("a").pod(of_web("b", 1).deleting()); }, 0},
           {"they are wanted again", [](Owners& o) { o.wants_none().wants(2); }, 0},
       }) {
    Owners owners;
    owners.pod(of_web("a")).pod(of_web("b", 1));
    events(owners);
    EXPECT_EQ(owners.unsettled(), unsettled) << title;
    EXPECT_EQ(owners.surplus_pods(), surplus_pods) << title;
  }
}

TEST(Shortfalls, AreTheOwnersThatWantMoreThanThereIs) {
  struct Case {
    std::string_view title;
    std::function<void(Owners&)> events;  // after pods a and b of web-1, b the younger
    std::vector<std::string> missing;
  };
  for (const auto& [title, events, missing] : std::vector<Case>{
           {"nothing is known of the workload", [](Owners&) {}, {}},
           {"enough", [](Owners& o) { o.wants(2); }, {}},
           {"too many", [](Owners& o) { o.wants(1); }, {}},
           {"too few", [](Owners& o) { o.wants(5); }, {"web-1: 3 now, like b"}},
           {"one after another", [](Owners& o) { o.wants(5, false); }, {"web-1: 3 later, like b"}},
           {"it changes its mind",
            [](Owners& o) { o.wants(5).wants(4, false).wants(3); },
            {"web-1: 1 now, like b"}},
           {"a pod comes",
            [](Owners& o) { o.wants(4).pod(of_web("c", 2)); },
            {"web-1: 1 now, like c"}},
           {"all pods come", [](Owners& o) { o.wants(4).pod(of_web("c")).pod(of_web("d")); }, {}},
           // It may be wanted no more: nothing is expected before the workload has spoken.
           {"a pod goes", [](Owners& o) { o.wants(2).gone("b"); }, {"web-1: 1 later, like b"}},
           {"a pod goes of too few",
            [](Owners& o) { o.wants(4).gone("b"); },
            {"web-1: 2 now, 1 later, like b"}},
           {"a pod goes and is wanted back",
            [](Owners& o) { o.wants(2).gone("b").wants(2); },
            {"web-1: 1 now, like b"}},
           {"a pod goes that is wanted no more",
            [](Owners& o) { o.wants(2).gone("b").wants(1); },
            {}},
           {"what the workload says is of before",
            [](Owners& o) {
              o.wants(2, true, "web-1", "5").pod(of_web("a").version(7).deleting());
              o.wants(2, true, "web-1", "6");
            },
            {"web-1: 1 later, like b"}},
           {"what the workload says is of after",
            [](Owners& o) {
              o.wants(2, true, "web-1", "5").pod(of_web("a").version(7).deleting());
              o.wants(2, true, "web-1", "8");
            },
            {"web-1: 1 now, like b"}},
           {"one went before all were there",
            [](Owners& o) { o.wants(1).gone("b").wants(2).pod(of_web("c", 2)).wants(3); },
            {"web-1: 1 now, like c"}},
           {"a pod is on its way out",
            [](Owners& o) { o.wants(2).pod(of_web("a").deleting()); },
            {"web-1: 1 later, like b"}},
           {"all pods go",
            [](Owners& o) { o.wants(2).gone("a").gone("b"); },
            {"web-1: 2 later, like b"}},
           {"a successor comes", [](Owners& o) { o.wants(2).gone("a").pod(of_web("c")); }, {}},
           {"none are wanted", [](Owners& o) { o.wants(5).wants(0); }, {}},
           {"the workload goes", [](Owners& o) { o.wants(5).workload_gone(); }, {}},
           {"a workload without a pod", [](Owners& o) { o.wants(5, true, "api-1"); }, {}},
           {"its first pod comes",
            [](Owners& o) {
              o.wants(5, true, "api-1").wants(3).pod(PodBuilder("x").owned_by("api-1"));
            },
            {"api-1: 4 now, like x", "web-1: 1 now, like b"}},
       }) {
    Owners owners;
    owners.pod(of_web("a")).pod(of_web("b", 1));
    events(owners);
    EXPECT_EQ(owners.missing(), missing) << title;
  }
}

// A quota with scopes, or a webhook, denies them: no status says so.
TEST(Shortfalls, OfAControllerThatComesNoNearerNothingIsExpected) {
  struct Case {
    std::string_view title;
    std::function<void(Owners&)> events;  // after pods a and b of web-1, of five wanted
    std::vector<std::string> missing;
  };
  for (const auto& [title, events, missing] : std::vector<Case>{
           {"a while", [](Owners& o) { o.wait(29); }, {"web-1: 3 now, like b"}},
           {"too long", [](Owners& o) { o.wait(30); }, {"web-1: 3 later, like b"}},
           {"another comes in time",
            [](Owners& o) { o.wait(20).pod(of_web("c", 2)).wait(20); },
            {"web-1: 2 now, like c"}},
           {"and no further",
            [](Owners& o) { o.wait(20).pod(of_web("c", 2)).wait(30); },
            {"web-1: 2 later, like c"}},
           {"another comes after all",
            [](Owners& o) { o.wait(40).pod(of_web("c", 2)).wait(5); },
            {"web-1: 2 now, like c"}},
           {"one goes and is replaced",
            [](Owners& o) { o.wait(20).gone("b").wants(5).pod(of_web("c", 2)).wait(10); },
            {"web-1: 3 later, like c"}},
           {"one has done its work",
            [](Owners& o) { o.wait(20).gone("b").wants(4).pod(of_web("c", 2)).wait(10); },
            {"web-1: 2 later, like c"}},
           {"fewer are wanted", [](Owners& o) { o.wait(40).wants(4); }, {"web-1: 2 later, like b"}},
           {"others are wanted", [](Owners& o) { o.wait(40).wants(6); }, {"web-1: 4 now, like b"}},
           {"what is said says nothing new",
            [](Owners& o) { o.wait(40).wants(5); },
            {"web-1: 3 later, like b"}},
           {"all come", [](Owners& o) { o.wait(40).wants(2).wants(3); }, {"web-1: 1 now, like b"}},
       }) {
    Owners owners;
    owners.pod(of_web("a")).pod(of_web("b", 1)).wants(5);
    events(owners);
    EXPECT_EQ(owners.missing(), missing) << title;
  }
}

// Pod "data-<name>" of the StatefulSet web-1.
PodBuilder with_claim(const std::string& name) {
  return std::move(PodBuilder(name).owned_by("web-1", "StatefulSet").claim("data-" + name));
}

TEST(Shortfalls, PodsWithClaimsOfTheirOwnComeBackAsTheyWere) {
  struct Case {
    std::string_view title;
    std::function<void(Owners&)> events;  // after web-9, web-10 and web-11, of three wanted
    std::vector<std::string> missing;
  };
  for (const auto& [title, events, missing] : std::vector<Case>{
           {"all are there", [](Owners&) {}, {}},
           {"nobody knows what another would be like", [](Owners& o) { o.wants(5); }, {}},
           {"one is on its way out",
            [](Owners& o) { o.pod(with_claim("web-10").deleting()); },
            {"web-1: web-10"}},
           {"it ended meanwhile",
            [](Owners& o) {
              o.pod(with_claim("web-10").deleting());
              o.pod(with_claim("web-10").deleting().phase("Failed"));
            },
            {"web-1: web-10"}},
           {"one is gone", [](Owners& o) { o.gone("web-9"); }, {"web-1: web-9"}},
           {"all are gone",
            [](Owners& o) { o.gone("web-11").gone("web-9").gone("web-10"); },
            {"web-1: web-9, web-10, web-11"}},
           {"one ended and is gone",
            [](Owners& o) { o.pod(with_claim("web-9").phase("Failed")).gone("web-9"); },
            {"web-1: web-9"}},
           {"it is there again",
            [](Owners& o) { o.gone("web-9").pod(with_claim("web-9").uid("again")); },
            {}},
           {"fewer are wanted: the last by number does not come back",
            [](Owners& o) { o.gone("web-9").gone("web-11").wants(2); },
            {"web-1: web-9"}},
           {"more are wanted again: what was dropped stays forgotten",
            [](Owners& o) { o.gone("web-9").gone("web-11").wants(2).wants(3); },
            {"web-1: web-9"}},
           {"none are wanted", [](Owners& o) { o.gone("web-9").wants(0); }, {}},
       }) {
    Owners owners;
    owners.pod(with_claim("web-9")).pod(with_claim("web-10")).pod(with_claim("web-11")).wants(3);
    events(owners);
    EXPECT_EQ(owners.missing(), missing) << title;
  }
}

TEST(Shortfalls, APodThatIsGoingIsKnownBeforeItsStatefulSet) {
  Owners owners;
  owners.pod(with_claim("web-0").deleting());
  EXPECT_THAT(owners.missing(), IsEmpty());
  EXPECT_THAT(owners.wants(1).missing(), ElementsAre("web-1: web-0"));
  EXPECT_THAT(owners.gone("web-0").missing(), ElementsAre("web-1: web-0"));
  EXPECT_EQ(owners.workload_gone().owned(), "-");
}

TEST(Shortfalls, OfAStatefulSetThatIsNotKnownOnlyWhatIsThereIsRemembered) {
  Owners owners;
  owners.pod(with_claim("web-0").deleting()).pod(with_claim("web-0").deleting().phase("Failed"));
  EXPECT_EQ(owners.owned(), "0 like web-0");
  EXPECT_EQ(owners.gone("web-0").owned(), "-");
}

// Of three at a time, of ten. The Job lists a pod that ended first; then the pod's finalizer goes.
TEST(Shortfalls, NoPodIsMissedThatAJobHasNotCountedYet) {
  const auto of_job = [](const std::string& name) {
    return std::move(PodBuilder(name).owned_by("web-1", "Job", "batch/v1"));
  };
  const auto tracked = [&](const std::string& name) {
    return std::move(of_job(name).finalizer("batch.kubernetes.io/job-tracking"));
  };
  Owners owners;
  owners.pod(tracked("a")).pod(tracked("b")).pod(tracked("c")).wants(3);
  owners.pod(tracked("a").phase("Succeeded"));
  EXPECT_EQ(owners.owned(), "3 like c");
  EXPECT_THAT(owners.missing(), IsEmpty());
  // In either order.
  owners.wants(2).pod(of_job("a").phase("Succeeded"));
  EXPECT_EQ(owners.owned(), "2 like c");
  EXPECT_THAT(owners.missing(), IsEmpty());
  owners.pod(tracked("b").phase("Succeeded")).pod(of_job("b").phase("Succeeded"));
  EXPECT_THAT(owners.missing(), ElementsAre("web-1: 1 later, like c"));
  EXPECT_THAT(owners.wants(1).missing(), IsEmpty());
  // One that is deleted is replaced while it ends.
  owners.pod(tracked("c").deleting()).wants(1);
  EXPECT_THAT(owners.missing(), ElementsAre("web-1: 1 now, like c"));
  owners.pod(tracked("c").deleting().phase("Failed"));
  EXPECT_THAT(owners.missing(), ElementsAre("web-1: 1 now, like c"));
}

TEST(Shortfalls, AreAsWhenAllIsCountedAnew) {
  rc::check([] {
    Owners owners;
    std::map<std::string, std::string> alive;  // pod to owner
    std::map<std::string, std::int32_t> wanted;
    std::map<std::string, bool> has_sample;
    for (int step = 0; step < 60; ++step) {
      const std::string owner = *rc::gen::element<std::string>("u", "v", "w");
      const std::string pod = *rc::gen::element<std::string>("a", "b", "c", "d", "e");
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          owners.pod(PodBuilder(pod).uid(std::to_string(step)).owned_by(owner));
          alive[pod] = owner;
          break;
        case 1:
          owners.gone(pod);
          alive.erase(pod);
          break;
        case 2:
          owners.pod(PodBuilder(pod).uid(std::to_string(step)).owned_by(owner).deleting());
          alive.erase(pod);
          break;
        default:
          wanted[owner] = *rc::gen::inRange(0, 4);
          owners.wants(wanted[owner], true, owner);
      }
      std::map<std::string, std::int32_t> expected;
      for (const std::string each : {"u", "v", "w"}) {
        std::int32_t count = 0;
        for (const auto& [name, of] : alive) {
          count += of == each ? 1 : 0;
        }
        has_sample[each] = count > 0 || (has_sample[each] && wanted[each] > 0);
        if (has_sample[each] && wanted[each] > count) {
          expected[each] = wanted[each] - count;
        }
      }
      RC_ASSERT(owners.how_many() == expected);
    }
  });
}

}  // namespace
}  // namespace millwright::cluster
