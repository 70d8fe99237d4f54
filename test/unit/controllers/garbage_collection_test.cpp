// What a pass over the instances of a cloud asks the API server.
#include "millwright/controllers/nodeclaim/garbage_collection.hpp"

#include "unit/cloud/simulated/witness.hpp"
#include "unit/controllers/with_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr model::Resource kFleetClasses[] = {{"fleet.test", "v1", "FleetClass", "fleetclasses"}};

// A cloud with these instances, whatever is asked of it.
class Fleet final : public cloud::Witness {
 public:
  explicit Fleet(std::vector<std::string>& used) : Witness(used) {}

  std::span<const model::Resource> node_classes() const override { return kFleetClasses; }
  Reply<std::vector<cloud::Instance>> list() override { co_return instances; }
  Reply<cloud::Instance> get(std::string provider_id) override {
    const auto of_id = taken.find(provider_id);
    if (of_id == taken.end()) {
      co_return found;
    }
    cloud::Instance instance;
    instance.node_claim = of_id->second;
    co_return instance;
  }
  Reply<> remove_leaked(std::string provider_id) override {
    note(std::move(provider_id));
    co_return base::Result<>{};
  }

  std::vector<cloud::Instance> instances;
  std::map<std::string, std::string> taken;  // by claims since they were listed
  base::Result<cloud::Instance> found = base::fail(base::ErrorKind::NotFound, "it is gone");
};

class CollectingGarbage : public WithServices {
 protected:
  CollectingGarbage() {
    auto fleet = std::make_unique<Fleet>(used_);
    fleet_ = fleet.get();
    providers_.add(std::move(fleet));
  }

  void launch(const std::string& id, const std::string& claim = {}) {
    cloud::Instance instance;
    instance.provider_id = id;
    instance.node_claim = claim;
    fleet_->instances.push_back(std::move(instance));
  }
  // At second 0.
  void launch_claim(const std::string& name, bool registered = false) {
    testing::ClaimBuilder builder(name);
    builder.provider("cloud://" + name).condition(model::kLaunched);
    if (registered) {
      builder.condition(model::kRegistered);
    }
    auto claim = *builder.build();
    claim.node_class_ref.group = kFleetClasses[0].group;
    claim.node_class_ref.kind = kFleetClasses[0].kind;
    state_.upsert(std::make_shared<const model::NodeClaim>(std::move(claim)));
    transport_->answer = [](const kube::ApiRequest&) {
      return kube::test::ok(kube::test::parse("{}"));
    };
  }
  void collect() { kube::test::run(loop_, collect_once(&collection_)); }

  Fleet* fleet_ = nullptr;
  GarbageCollection collection_{services_};

 private:
  static base::Task<bool> collect_once(GarbageCollection* collection) {
    co_await collection->collect();
    co_return true;
  }
};

TEST_F(CollectingGarbage, AllClaimsAreAskedForOnceForAllInstancesWithoutAName) {
  for (const auto* id : {"cloud://leaked", "cloud://launched", "cloud://leaked-too"}) {
    launch(id);
  }
  transport_->answer = [](const kube::ApiRequest&) {
    return kube::test::ok(kube::test::parse(
        R"({"metadata": {"resourceVersion": "1"}, "items": [
            {"metadata": {"name": "c"}, "status": {"providerID": "cloud://launched"}}]})"));
  };
  collect();
  EXPECT_THAT(transport_->paths(), IsEmpty()) << "a launch may still be being recorded";
  loop_.run_for(minutes(2));
  collect();
  EXPECT_THAT(transport_->paths(), ElementsAre("GET /apis/karpenter.sh/v1/nodeclaims?limit=500"));
  EXPECT_THAT(used_, ElementsAre("cloud://leaked", "cloud://leaked-too"));
}

// To end the others may have taken minutes.
TEST_F(CollectingGarbage, AnInstanceThatAClaimTakesWhileOthersEndStays) {
  launch("cloud://leaked");
  launch("cloud://taken");
  launch("cloud://orphan", "gone");
  transport_->answer = [](const kube::ApiRequest& request) {
    return request.path.ends_with("/gone")
               ? kube::test::status_answer(404, "NotFound", "there is no such claim")
               : kube::test::ok(
                     kube::test::parse(R"({"metadata": {"resourceVersion": "1"}, "items": []})"));
  };
  collect();
  loop_.run_for(minutes(2));
  fleet_->taken = {{"cloud://taken", "in-doubt"}, {"cloud://orphan", "asked for nothing"}};
  collect();
  EXPECT_THAT(used_, ElementsAre("cloud://leaked", "cloud://orphan"));
  fleet_->taken.erase("cloud://taken");
  fleet_->found = base::fail(base::ErrorKind::Throttled, "ask later");
  used_.clear();
  collect();
  EXPECT_THAT(used_, ElementsAre("cloud://orphan")) << "nobody can tell whose the others are";
}

TEST_F(CollectingGarbage, AnInstanceThatWasLaunchedTwiceGoesThoughItsClaimIsThere) {
  launch("cloud://first", "doubled");
  launch("cloud://second", "doubled");
  launch("cloud://new", "launching");
  launch("cloud://orphan", "gone");
  launch("cloud://unknown", "unreadable");
  transport_->answer = [](const kube::ApiRequest& request) {
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    if (name == "doubled") {
      return kube::test::ok(kube::test::parse(
          R"({"metadata": {"name": "doubled"}, "status": {"providerID": "cloud://first"}})"));
    }
    if (name == "launching") {
      return kube::test::ok(kube::test::parse(R"({"metadata": {"name": "launching"}})"));
    }
    return name == "gone" ? kube::test::status_answer(404, "NotFound", "there is no such claim")
                          : kube::test::status_answer(403, "Forbidden", "no");
  };
  collect();
  loop_.run_for(minutes(2));
  collect();
  EXPECT_THAT(used_, ElementsAre("cloud://second", "cloud://orphan"));
}

TEST_F(CollectingGarbage, AClaimWhoseMachineIsLostBeforeItRegistersGoesFiveMinutesAfterItsLaunch) {
  launch_claim("lost");
  loop_.run_for(minutes(3));
  collect();
  loop_.run_for(seconds(119));
  collect();
  EXPECT_THAT(transport_->paths(), IsEmpty()) << "clouds show a new machine late";
  loop_.run_for(seconds(1));
  collect();
  EXPECT_THAT(transport_->paths(), ElementsAre("DELETE /apis/karpenter.sh/v1/nodeclaims/lost"));
  EXPECT_THAT(events_.reasons, ElementsAre("InstanceLost"));
}

// Its Node has joined, and is not Ready yet.
TEST_F(CollectingGarbage, AClaimThatHasRegisteredIsNotJudgedWhileItsMachineMayShowUpLate) {
  launch_claim("young", true);
  loop_.run_for(minutes(2));
  collect();
  loop_.run_for(seconds(179));
  collect();
  EXPECT_THAT(transport_->paths(), IsEmpty());
  loop_.run_for(seconds(1));
  collect();
  EXPECT_THAT(transport_->paths(), ElementsAre("DELETE /apis/karpenter.sh/v1/nodeclaims/young"));
}

TEST_F(CollectingGarbage, AClaimWhoseMachineEndsBeforeItRegistersIsLostToo) {
  launch_claim("ending");
  fleet_->found = cloud::Instance{};
  fleet_->found->terminating = true;
  loop_.run_for(minutes(5));
  collect();
  loop_.run_for(minutes(2));
  collect();
  EXPECT_THAT(transport_->paths(), ElementsAre("DELETE /apis/karpenter.sh/v1/nodeclaims/ending"));
}

TEST_F(CollectingGarbage, OneAnswerWithoutItsMachineEndsNoClaimThatHasNotRegistered) {
  launch_claim("missed");
  loop_.run_for(minutes(6));
  collect();
  EXPECT_THAT(transport_->paths(), IsEmpty()) << "the answer may be stale";
  launch("cloud://missed", "missed");
  loop_.run_for(minutes(2));
  collect();
  fleet_->instances.clear();
  loop_.run_for(minutes(2));
  collect();
  EXPECT_THAT(transport_->paths(), IsEmpty()) << "it was seen in between";
}

TEST_F(CollectingGarbage,
       AClaimThatHasNotRegisteredStaysWhileTheCloudDoesNotSayThatItsMachineIsGone) {
  launch_claim("unlisted");
  loop_.run_for(minutes(10));
  collect();
  fleet_->found = base::fail(base::ErrorKind::Unavailable, "ask later");
  loop_.run_for(minutes(2));
  collect();
  fleet_->found = cloud::Instance{};
  loop_.run_for(minutes(2));
  collect();
  EXPECT_THAT(transport_->paths(), IsEmpty());
  EXPECT_THAT(events_.reasons, IsEmpty());
}

}  // namespace
}  // namespace millwright::controllers
