// Two API groups with NodeClasses of one kind and one name: each class is its own to the feed, to a
// launch and to the queue of NodeClasses.
#include "controllers/nodeclaim/lifecycle/launch.hpp"
#include "millwright/controllers/feed.hpp"
#include "millwright/controllers/pools/nodeclass.hpp"
#include "unit/cloud/simulated/witness.hpp"
#include "unit/controllers/with_services.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace millwright::controllers {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using testing::at;
using testing::ClaimBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr model::Resource kOurs = model::kEcsNodeClassResource;
constexpr model::Resource kTheirs{"karpenter.alibabacloud.com", "v1alpha1", kOurs.kind,
                                  kOurs.plural};

// A cloud that serves both kinds.
class CloudOfBoth final : public cloud::Witness {
 public:
  explicit CloudOfBoth(std::vector<std::string>& used) : Witness(used), used_(used) {}
  std::span<const model::Resource> node_classes() const override { return kinds_; }
  Reply<> release(std::shared_ptr<const model::NodeClass> node_class) override {
    used_.push_back("release " + model::reference_to(*node_class).group);
    co_return base::Result<>{};
  }
  std::string_view node_class_finalizer(const model::NodeClass& node_class) const override {
    return model::reference_to(node_class).is_of(kTheirs) ? "theirs/termination"
                                                          : "ours/termination";
  }

 private:
  std::vector<std::string>& used_;
  std::array<model::Resource, 2> kinds_{kTheirs, kOurs};
};

boost::json::value class_of(const model::Resource& resource) {
  return {{"apiVersion", resource.api_version()},
          {"kind", resource.kind},
          {"metadata",
           {{"name", "default"},
            {"uid", "uid-" + std::string(resource.group)},
            {"resourceVersion", "1"}}}};
}

class ClassGroups : public WithServices {
 protected:
  ClassGroups() {
    providers_.add(std::make_unique<CloudOfBoth>(used_));
    transport_->answer = [this](const kube::ApiRequest& request) {
      boost::json::array items;
      for (const auto& resource : stored_) {
        if (request.path.starts_with(resource.path() + "?")) {
          items.push_back(class_of(resource));
        }
      }
      return kube::test::ok({{"metadata", {{"resourceVersion", "1"}}}, {"items", items}});
    };
  }
  ~ClassGroups() override {
    group_.request_stop();
    loop_.run_ready();
  }

  void see(const model::Resource& resource) {
    state_.upsert(std::make_shared<const model::NodeClass>(
        model::decode<model::NodeClass>(class_of(resource)).value()));
  }
  std::vector<std::string> known() {
    std::vector<std::string> classes;
    for (const auto& node_class : state_.snapshot()->node_classes) {
      classes.push_back(model::reference_to(*node_class).text());
    }
    return classes;
  }
  std::vector<std::string> asked() const {
    auto paths = transport_->paths();
    for (auto& path : paths) {
      path = path.substr(0, path.find('?'));
    }
    return paths;
  }

  // "PATCH /apis/... BODY" of each.
  std::vector<std::string> patched() const {
    std::vector<std::string> patches;
    for (const auto& seen : transport_->seen) {
      const auto& path = seen.request.path;
      patches.push_back(path.substr(0, path.find('?')) + " " + seen.request.body);
    }
    std::sort(patches.begin(), patches.end());
    return patches;
  }

  // With every class that is known.
  void start(NodeClasses& queue) {
    group_.spawn(queue.run(group_.stop_token()));
    loop_.run_ready();
    for (const auto& node_class : state_.snapshot()->node_classes) {
      queue.enqueue(model::reference_to(*node_class));
    }
  }

  std::vector<model::Resource> stored_;  // whose class the API server has
  Sources sources_{loop_, state_, {}};
  PodTransitions transitions_{[](auto, auto) {}};
  LaunchFailures failures_{services_};
  base::TaskGroup group_{loop_};
};

TEST_F(ClassGroups, TheEndOfOneLeavesTheOtherOfTheNameKnown) {
  stored_ = {kTheirs, kOurs};
  group_.spawn(run_feed(services_, sources_, transitions_, group_.stop_token()));
  loop_.run_for(seconds(1));
  EXPECT_THAT(known(), ElementsAre("ECSNodeClass.karpenter.alibabacloud.com/default",
                                   "ECSNodeClass.karpenter.k8s.alibabacloud/default"));
  const auto watch_of_ours = std::find_if(
      transport_->streams.begin(), transport_->streams.end(),
      [](const auto& stream) { return stream->path().starts_with(kOurs.path() + "?"); });
  ASSERT_NE(watch_of_ours, transport_->streams.end());
  (*watch_of_ours)->event("DELETED", class_of(kOurs));
  EXPECT_THAT(known(), ElementsAre("ECSNodeClass.karpenter.alibabacloud.com/default"));
}

TEST_F(ClassGroups, ALaunchIsGivenUpThoughTheOtherGroupHasAClassOfTheName) {
  stored_ = {kTheirs};
  see(kTheirs);
  model::NodeClaim claim = *ClaimBuilder("web").build();
  claim.meta.finalizers = {std::string(model::kTerminationFinalizer)};
  claim.node_class_ref = {
      .group = std::string(kOurs.group), .kind = std::string(kOurs.kind), .name = "default"};
  const auto launched = kube::test::run(
      loop_, launch(services_, &failures_, std::make_shared<const model::NodeClaim>(claim)));
  ASSERT_TRUE(launched) << launched.error().message;
  EXPECT_EQ(*launched, nullptr);
  EXPECT_THAT(asked(),
              ElementsAre("GET " + kOurs.path(), "DELETE /apis/karpenter.sh/v1/nodeclaims/web"));
}

TEST_F(ClassGroups, EachIsResolvedAndKeepsTheFinalizerOfItsGroup) {
  see(kTheirs);
  see(kOurs);
  NodeClasses queue(services_);
  start(queue);
  loop_.run_until([this] { return used_.size() == 2; }, seconds(1));
  EXPECT_THAT(used_, ElementsAre("resolve", "resolve"));
  EXPECT_THAT(
      patched(),
      ElementsAre(
          AllOf(StartsWith(kTheirs.path({}, "default") + " "), HasSubstr("theirs/termination")),
          AllOf(StartsWith(kOurs.path({}, "default") + " "), HasSubstr("ours/termination"))));
  group_.request_stop();
  loop_.run_ready();
}

TEST_F(ClassGroups, TheEndOfOneWaitsForItsOwnClaimsAlone) {
  const auto deleted = [](const model::Resource& resource, std::string_view finalizer) {
    auto object = class_of(resource);
    auto& meta = object.at("metadata").as_object();
    meta["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    meta["finalizers"] = boost::json::array{finalizer};
    return std::make_shared<const model::NodeClass>(
        model::decode<model::NodeClass>(object).value());
  };
  state_.upsert(deleted(kTheirs, "theirs/termination"));
  state_.upsert(deleted(kOurs, "ours/termination"));
  model::NodeClaim claim = *ClaimBuilder("web").build();
  claim.node_class_ref = {
      .group = std::string(kOurs.group), .kind = std::string(kOurs.kind), .name = "default"};
  state_.upsert(std::make_shared<const model::NodeClaim>(claim));
  NodeClasses queue(services_);
  start(queue);
  loop_.run_for(seconds(2));
  EXPECT_THAT(used_, ElementsAre("release " + std::string(kTheirs.group)));
  EXPECT_THAT(asked(), ElementsAre("PATCH " + kTheirs.path({}, "default")));
  group_.request_stop();
  loop_.run_ready();
}

}  // namespace
}  // namespace millwright::controllers
