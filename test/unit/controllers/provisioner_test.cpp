// What a plan says of groups of pods.
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "unit/cloud/simulated/witness.hpp"
#include "unit/controllers/with_services.hpp"
#include "unit/scheduling/object_builders.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
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
  void run(std::function<void()> work) override {
    work();
    meanwhile();
  }
  void run_in_background(std::function<void()> work) override { work(); }
  std::function<void()> meanwhile = [] {};
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

class PoolThatChanges : public WithServices {
 protected:
  PoolThatChanges() {
    providers_.add(std::make_unique<Shop>(used_));
    state_.set_synced(true);
    model::NodeClass node_class;
    node_class.meta.name = "default";
    node_class.api_version = model::kKwokNodeClassResource.api_version();
    node_class.kind = model::kKwokNodeClassResource.kind;
    state_.upsert(std::make_shared<const model::NodeClass>(std::move(node_class)));
    for (const char* name : {"a", "b", "c"}) {
      state_.upsert(PodBuilder(name)
                        .requests(1500)
                        .conditions({{.type = "PodScheduled",
                                      .status = model::ConditionStatus::False,
                                      .reason = "Unschedulable"}})
                        .build());
    }
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

  SlowCompute slow_;
  std::shared_ptr<LogLines> log_ = std::make_shared<LogLines>();
  Services slow_services_ = services_with(slow_, base::Logger(log_, "controller"));
  Reservations reservations_{slow_services_};
  Provisioner provisioner_{slow_services_, reservations_};
};

TEST_F(PoolThatChanges, IsToldOfOnceForAllClaimsOfThePlan) {
  set_pool(1);
  slow_.meanwhile = [this] { set_pool(2); };
  const auto next = kube::test::run(loop_, provisioner_.plan_once());
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

}  // namespace
}  // namespace millwright::controllers
