// How pods that come and go reach the status of their NodeClaims.
#include "millwright/controllers/nodeclaim/claim_status.hpp"

#include "millwright/controllers/provisioning/pod_transitions.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cloud/simulated/witness.hpp"
#include "unit/controllers/with_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::controllers {
namespace {

using testing::at;
using testing::ClaimBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::NodeBuilder;
using ::testing::Not;
using testing::PodBuilder;

constexpr model::Resource kManagedClasses[] = {{"cloud.test", "v1", "CloudClass", "cloudclasses"}};
constexpr std::int64_t kLeadsFrom = 3600;

class ManagingCloud final : public cloud::Witness {
 public:
  using Witness::Witness;
  std::span<const model::Resource> node_classes() const override { return kManagedClasses; }
};

// A replica that comes to lead an hour after the test's first moment.
class PodsThatComeAndGo : public WithServices {
 protected:
  PodsThatComeAndGo() {
    providers_.add(std::make_unique<ManagingCloud>(used_));
    loop_.run_for(std::chrono::seconds(kLeadsFrom));
    state_.upsert(NodeBuilder("node").managed().provider("p1").build());
    transport_->answer = [this](const kube::ApiRequest& request) {
      const auto patch = kube::test::parse(request.body);
      const std::string time(model::text_at(patch, "status.lastPodEventTime"));
      if (const auto* conditions = model::find_path(patch, "status.conditions")) {
        conditions_.clear();
        for (const auto& condition : conditions->as_array()) {
          conditions_.emplace_back(model::text_at(condition, "type"));
        }
      }
      if (!time.empty()) {
        written_.push_back(*base::parse_rfc3339(time));
        claim_.last_pod_event_time = written_.back();
      }
      return kube::test::ok(model::encode(claim_));
    };
  }

  void show_claim(std::optional<base::TimePoint> last_pod_event) {
    claim_ = *ClaimBuilder("claim").version(1).provider("p1").build();
    claim_.node_class_ref = {.group = std::string(kManagedClasses[0].group),
                             .kind = std::string(kManagedClasses[0].kind),
                             .name = "default"};
    claim_.last_pod_event_time = last_pod_event;
    state_.upsert(std::make_shared<const model::NodeClaim>(claim_));
  }
  // Of a claim that was launched, whose cloud does not say whether it has drifted.
  void show_what_drift_needs() {
    auto pool = std::make_shared<model::NodePool>();
    pool->meta.name = "default";
    pool->consolidate_after.text = "1h";
    state_.upsert(std::shared_ptr<const model::NodePool>(std::move(pool)));
    auto node_class = std::make_shared<model::NodeClass>();
    node_class->api_version = "cloud.test/v1";
    node_class->kind = kManagedClasses[0].kind;
    node_class->meta.name = "default";
    state_.upsert(std::shared_ptr<const model::NodeClass>(std::move(node_class)));
    for (const auto type : {model::kLaunched, model::kRegistered, model::kInitialized,
                            model::kConsolidatable, model::kDrifted}) {
      claim_.conditions.push_back(since(std::string(type).c_str(), 0));
    }
    state_.upsert(std::make_shared<const model::NodeClaim>(claim_));
  }
  // What is written on the claim as a pod's last coming or going.
  std::vector<base::TimePoint> lead() {
    base::TaskGroup group(loop_);
    group.spawn(status_.run(group.stop_token()));
    loop_.run_for(std::chrono::milliseconds(1));
    status_.enqueue("claim");
    loop_.run_for(std::chrono::minutes(1));
    return written_;
  }
  // A pod of the node as the first list shows it.
  PodBuilder listed(const std::string& phase, std::vector<model::Condition> conditions) {
    PodBuilder pod("pod");
    return pod.on("node").phase(phase).conditions(std::move(conditions));
  }
  static model::Condition since(const char* type, std::int64_t time) {
    return {.type = type, .status = model::ConditionStatus::True, .last_transition_time = at(time)};
  }

  std::vector<std::string> conditions_;  // the types of those that were written last
  ClaimStatus status_{services_};
  PodTransitions transitions_{
      [this](std::string_view node, std::optional<base::TimePoint> happened) {
        status_.pod_event(node, happened);
      }};

 private:
  model::NodeClaim claim_;
  std::vector<base::TimePoint> written_;
};

// A cluster's pods are listed one by one when a process starts; a snapshot for each of 50,000 took
// seconds of CPU time before the process was ready.
TEST_F(PodsThatComeAndGo, TakeNoSnapshot) {
  show_claim(std::nullopt);
  const std::uint64_t before = state_.latest()->generation;
  status_.pod_event("node", std::nullopt);
  status_.pod_event("unknown", std::nullopt);
  EXPECT_EQ(state_.latest()->generation, before);
}

TEST_F(PodsThatComeAndGo, AreWrittenOnTheClaim) {
  show_claim(at(60));
  status_.pod_event("node", std::nullopt);
  EXPECT_THAT(lead(), ElementsAre(at(kLeadsFrom)));
}

// Where processes restart more often than consolidateAfter, no node would ever be consolidatable.
TEST_F(PodsThatComeAndGo, AreAsOldAsTheySayWhenTheyAreListedFirst) {
  show_claim(at(60));
  transitions_.upsert(listed("Running", {since("PodScheduled", 60), since("Ready", 90)}).value());
  EXPECT_THAT(lead(), IsEmpty());
}

TEST_F(PodsThatComeAndGo, WhileNobodyLedAreWrittenWithTheirOwnTime) {
  show_claim(at(60));
  transitions_.upsert(listed("Running", {since("PodScheduled", 600)}).value());
  EXPECT_THAT(lead(), ElementsAre(at(600)));
}

TEST_F(PodsThatComeAndGo, ThatHaveEndedSayWhen) {
  show_claim(at(900));
  transitions_.upsert(
      listed("Succeeded", {since("PodScheduled", 60), since("Ready", 900)}).value());
  EXPECT_THAT(lead(), IsEmpty());
}

TEST_F(PodsThatComeAndGo, ThatDoNotSaySinceWhenCountFromNow) {
  show_claim(at(60));
  transitions_.upsert(listed("Running", {}).value());
  EXPECT_THAT(lead(), ElementsAre(at(kLeadsFrom)));
}

// The node would be taken for one that has been at rest for long.
TEST_F(PodsThatComeAndGo, AreWrittenWhileTheCloudDoesNotAnswerWhetherTheClaimHasDrifted) {
  show_claim(at(60));
  show_what_drift_needs();
  status_.pod_event("node", std::nullopt);
  EXPECT_THAT(lead(), ElementsAre(at(kLeadsFrom)));
  EXPECT_THAT(used_, Contains("drift"));
  EXPECT_THAT(conditions_, Contains("Drifted")) << "as it was";
  EXPECT_THAT(conditions_, Not(Contains("Consolidatable")));
}

// Somebody tidies up: ttlSecondsAfterFinished, or the history limit of a CronJob.
TEST_F(PodsThatComeAndGo, HaveGoneWhenTheyEndAndNotWhenTheirObjectsDo) {
  show_claim(at(900));
  transitions_.upsert(
      listed("Succeeded", {since("PodScheduled", 60), since("Ready", 900)}).value());
  transitions_.remove(listed("Succeeded", {}).value().meta.uid);
  EXPECT_THAT(lead(), IsEmpty());
}

TEST_F(PodsThatComeAndGo, MayBeGoneAtOnce) {
  show_claim(at(900));
  transitions_.upsert(listed("Running", {since("PodScheduled", 60)}).value());
  transitions_.remove(listed("Running", {}).value().meta.uid);
  EXPECT_THAT(lead(), ElementsAre(at(kLeadsFrom)));
}

// By the clocks of others.
TEST_F(PodsThatComeAndGo, AreNeverLaterThanNow) {
  show_claim(at(60));
  transitions_.upsert(listed("Running", {since("PodScheduled", 2 * kLeadsFrom)}).value());
  EXPECT_THAT(lead(), ElementsAre(at(kLeadsFrom)));
}

TEST_F(PodsThatComeAndGo, AreForgottenWithTheirClaim) {
  show_claim(at(60));
  status_.pod_event("node", std::nullopt);
  status_.forget("claim");
  EXPECT_THAT(lead(), IsEmpty());
}

}  // namespace
}  // namespace millwright::controllers
