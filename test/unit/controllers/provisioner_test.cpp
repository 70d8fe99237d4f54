// What a plan says of groups of pods.
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "unit/cloud/simulated/witness.hpp"
#include "unit/controllers/with_services.hpp"
#include "unit/scheduling/object_builders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

using testing::NodeBuilder;
using testing::PodBuilder;

// A ReplicaSet wants two pods. One was reported and has room on node "n"; for the other, which is
// yet to come, there is none.
class PlanForPartOfAGroup : public WithServices {
 protected:
  PlanForPartOfAGroup() {
    state_.set_synced(true);
    state_.upsert(NodeBuilder("n").ready_since(0).allocatable(1000).build());
    state_.upsert(waiting("web-1").build());
    model::Workload workload{.kind = "ReplicaSet", .meta = {}, .pods = 2, .at_once = true};
    workload.meta.name = "web";
    workload.meta.namespace_ = "default";
    workload.meta.uid = "web";
    state_.upsert(std::make_shared<const model::Workload>(workload));
  }
  // By their uids pods that are there come before those that are yet to come, as real ones do.
  static PodBuilder waiting(const std::string& name) {
    return std::move(PodBuilder(name)
                         .uid("0-" + name)
                         .requests(1000)
                         .owned_by("web")
                         .conditions({{.type = "PodScheduled",
                                       .status = model::ConditionStatus::False,
                                       .reason = "Unschedulable"}}));
  }
  bool refuses() const {
    return provisioner_.refuses(scheduling::group_of(waiting("web-1").value()));
  }
  void plan() { kube::test::run(loop_, provisioner_.plan_once()); }

  Reservations reservations_{services_};
  Provisioner provisioner_{services_, reservations_};
};

TEST_F(PlanForPartOfAGroup, DoesNotRefuseItForPodsThatAreYetToCome) {
  ASSERT_EQ(state_.snapshot()->demand.front().expected, 1);
  plan();
  EXPECT_FALSE(refuses());
}

TEST_F(PlanForPartOfAGroup, RefusesItForAPodThatIsThere) {
  state_.upsert(waiting("web-2").build());
  plan();
  EXPECT_TRUE(refuses());
}

// Sells one type, on which one of the pods below has room.
class Shop final : public cloud::Witness {
 public:
  using Witness::Witness;
  std::span<const model::Resource> node_classes() const override { return kKinds; }
  base::Result<scheduling::InstanceTypes> instance_types(const model::NodePool&,
                                                         const model::NodeClass&) const override {
    return scheduling::testing::types({scheduling::testing::type("small").cpu("2")});
  }

 private:
  static constexpr model::Resource kKinds[] = {model::kKwokNodeClassResource};
};

// Something happens while a plan is made.
class SlowCompute final : public base::Compute {
 public:
  explicit SlowCompute(base::Loop& loop) : loop_(loop) {}
  void run(std::function<void()> work) override {
    loop_.after(takes, [this, work = std::move(work)] {
      work();
      meanwhile();
    });
  }
  void run_in_background(std::function<void()> work) override { work(); }
  base::Duration takes{};
  std::function<void()> meanwhile = [] {};

 private:
  base::Loop& loop_;
};

class LogLines final : public base::LogSink {
 public:
  bool enabled(base::LogLevel) const override { return true; }
  void write(base::LogLevel, std::string_view, std::string_view message,
             const std::vector<base::LogField>& fields) override {
    lines.emplace_back(std::string(message),
                       std::map<std::string, std::string>(fields.begin(), fields.end()));
  }
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> lines;
};

// Pods wait, and one machine has room for one of them.
class BuyingSlowly : public WithServices {
 protected:
  BuyingSlowly() {
    providers_.add(std::make_unique<Shop>(used_));
    state_.set_synced(true);
    model::NodeClass node_class;
    node_class.meta.name = "default";
    node_class.api_version = model::kKwokNodeClassResource.api_version();
    node_class.kind = model::kKwokNodeClassResource.kind;
    state_.upsert(std::make_shared<const model::NodeClass>(std::move(node_class)));
    for (const char* name : {"a", "b", "c"}) {
      state_.upsert(waiting(name).build());
    }
    set_pool(1);
  }
  static PodBuilder waiting(const std::string& name) {
    return std::move(
        PodBuilder(name).requests(1500).conditions({{.type = "PodScheduled",
                                                     .status = model::ConditionStatus::False,
                                                     .reason = "Unschedulable"}}));
  }
  void set_pool(std::int64_t generation) {
    model::NodePool pool;
    pool.meta.name = "default";
    pool.meta.uid = "default";
    pool.meta.generation = generation;
    pool.meta.resource_version = std::to_string(generation);
    pool.template_.node_class_ref = {std::string(model::kKwokNodeClassResource.group),
                                     std::string(model::kKwokNodeClassResource.kind), "default"};
    pool.conditions = {{.type = "Ready", .status = model::ConditionStatus::True}};
    state_.upsert(std::make_shared<const model::NodePool>(std::move(pool)));
  }
  std::int64_t created() const {
    return std::count_if(transport_->seen.begin(), transport_->seen.end(),
                         [](const auto& call) { return call.request.method == "POST"; });
  }
  std::optional<base::Duration> plan() { return kube::test::run(loop_, provisioner_.plan_once()); }

  SlowCompute slow_{loop_};
  std::shared_ptr<LogLines> log_ = std::make_shared<LogLines>();
  Services slow_services_ = services_with(slow_, base::Logger(log_, "controller"));
  Reservations reservations_{slow_services_};
  Provisioner provisioner_{slow_services_, reservations_};
};

using PoolThatChanges = BuyingSlowly;

TEST_F(PoolThatChanges, IsToldOfOnceForAllClaimsOfThePlan) {
  slow_.meanwhile = [this] { set_pool(2); };
  const auto next = plan();
  EXPECT_TRUE(next) << "it is planned again";
  EXPECT_TRUE(transport_->seen.empty()) << "nothing was bought by the plan for what was";
  std::vector<std::map<std::string, std::string>> told;
  for (const auto& [message, fields] : log_->lines) {
    if (message == "nodepool has changed meanwhile, will plan again") {
      told.push_back(fields);
    }
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].at("NodePool"), "default");
  EXPECT_EQ(told[0].at("nodeclaims"), "3");
}

TEST_F(BuyingSlowly, APodThatGoesMeanwhileIsPlannedWithout) {
  slow_.meanwhile = [this] { state_.remove<model::Pod>({"default", "c"}); };
  EXPECT_EQ(plan(), base::Duration::zero());
  EXPECT_EQ(created(), 0);
  slow_.meanwhile = [] {};
  plan();
  EXPECT_EQ(created(), 2) << "for a and b";
}

// A ReplicaSet was scaled down to one pod and has ten. Each plan takes longer than drafts
// wait for these to be deleted.
class PodsThatGoMeanwhile : public BuyingSlowly {
 protected:
  PodsThatGoMeanwhile() {
    for (int i = 0; i < 10; ++i) {
      state_.upsert(waiting("old-" + std::to_string(i)).owned_by("old").build());
    }
    model::Workload workload{.kind = "ReplicaSet", .meta = {}, .pods = 1, .at_once = true};
    workload.meta.name = "old";
    workload.meta.namespace_ = "default";
    workload.meta.uid = "old";
    state_.upsert(std::make_shared<const model::Workload>(workload));
    slow_.takes = 2 * slow_services_.options.draft_max;
    slow_.meanwhile = [this] {
      ++plans_;
      if (gone_ < to_go_) {
        state_.remove<model::Pod>({"default", "old-" + std::to_string(gone_++)});
      }
    };
  }

  int plans_ = 0;
  int gone_ = 0;
  int to_go_ = 0;
};

TEST_F(PodsThatGoMeanwhile, ArePlannedWithoutBeforeAnythingIsBought) {
  to_go_ = 2;
  ASSERT_EQ(state_.snapshot()->surplus_pods, 9);
  EXPECT_EQ(plan(), base::Duration::zero());
  EXPECT_EQ(plan(), base::Duration::zero());
  EXPECT_EQ(created(), 0);
  plan();
  EXPECT_EQ(plans_, 3);
  EXPECT_EQ(created(), 11) << "a claim for each pod that is left";
}

TEST_F(PodsThatGoMeanwhile, DelayNothingForLong) {
  to_go_ = 9;
  while (created() == 0 && plans_ < 10) {
    plan();
  }
  EXPECT_EQ(plans_, 4);
}

// One machine for them and others: by itself that would be planned anew as often as one goes.
TEST_F(PodsThatGoMeanwhile, DelayNobodyElseForLong) {
  for (int i = 0; i < 10; ++i) {
    state_.remove<model::Pod>({"default", "old-" + std::to_string(i)});
  }
  for (int i = 0; i < 5; ++i) {
    state_.upsert(waiting("old-" + std::to_string(i)).requests(10).owned_by("old").build());
  }
  for (const char* name : {"b", "c"}) {
    state_.remove<model::Pod>({"default", name});
  }
  to_go_ = 4;
  while (created() == 0 && plans_ < 10) {
    plan();
  }
  EXPECT_EQ(plans_, 4);
  EXPECT_EQ(created(), 1) << "for a and the one that is left";
}

}  // namespace
}  // namespace millwright::controllers
