// `millwright controller --shadow` beside a sandbox cluster in virtual time: what it would do is
// done in a cluster of its own, and the one it watches is never written to.

#include "app/shadow/shadow.hpp"

#include "millwright/kube/read_only.hpp"
#include "sandbox/replay/recorded_cluster.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::test {
namespace {

using std::chrono::minutes;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Keeps what is logged, as lines.
class KeptLog final : public base::LogSink {
 public:
  bool enabled(base::LogLevel level) const override { return level >= base::LogLevel::Info; }
  void write(base::LogLevel level, std::string_view logger, std::string_view message,
             const std::vector<base::LogField>& fields) override {
    lines.push_back(base::json_line("", level, logger, message, fields));
  }
  std::vector<std::string> lines;
};

base::Task<void> shadow_to_end(app::Shadow& shadow, std::stop_token stop,
                               std::optional<base::Result<>>& outcome) {
  auto ended = co_await shadow.run(std::move(stop));
  outcome = std::move(ended);
}

class Shadowing {
 public:
  explicit Shadowing(RecordedCluster& cluster, controllers::Options controllers = {})
      : cluster_(cluster),
        client_(cluster.loop(), kube::read_only(cluster.counting_transport())),
        shadow_({.client = client_,
                 .compute = compute_,
                 .metrics = metrics,
                 .redaction = app::Redaction(app::NameHash("key of digests"), std::nullopt),
                 .stand_in = {.clouds = {},
                              .controllers = std::move(controllers),
                              .write_decision =
                                  [this](std::string_view line) { decisions.emplace_back(line); }},
                 .report_every = minutes(5),
                 .log = base::Logger(log, "shadow")}),
        group_(cluster.loop()) {
    group_.spawn(shadow_to_end(shadow_, stop_.get_token(), outcome_));
    cluster_.run_for(std::chrono::seconds(5));
  }
  ~Shadowing() { end(); }

  // As SIGTERM does; what it then says, or why it failed.
  std::string end() {
    stop_.request_stop();
    cluster_.loop().run_until([this] { return outcome_.has_value(); }, minutes(1));
    if (outcome_ && !*outcome_) {
      return outcome_->error().message;
    }
    const auto report = shadow_.report();
    return report ? to_text(*report) : "it did not begin";
  }
  app::ShadowReport report() { return shadow_.report().value(); }
  bool has_begun() const { return shadow_.has_begun(); }
  bool has_ended() const { return outcome_.has_value(); }

  std::vector<std::string> decisions;
  base::Metrics metrics;
  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();

 private:
  RecordedCluster& cluster_;
  base::InlineCompute compute_;
  kube::Client client_;
  app::Shadow shadow_;
  base::TaskGroup group_;
  std::stop_source stop_;
  std::optional<base::Result<>> outcome_;
};

TEST(Shadow, BesideTheSameProgramItComesToTheSameAndWritesNothing) {
  RecordedCluster cluster;
  cluster.deploy(2);
  cluster.run_for(minutes(3));
  Shadowing shadow(cluster);
  ASSERT_TRUE(shadow.has_begun());
  cluster.run_for(minutes(5));
  cluster.scale(30);
  cluster.run_for(minutes(10));
  const auto full = shadow.report();
  EXPECT_GE(full.courses.replayed.claims, 1);
  EXPECT_EQ(full.courses.replayed.moments.back().waiting, 0);
  cluster.scale(0);
  cluster.run_for(minutes(10));
  const auto text = shadow.end();
  const auto report = shadow.report();
  EXPECT_GT(report.courses.recorded.cost, 0);
  EXPECT_NEAR(report.courses.replayed.cost, report.courses.recorded.cost,
              0.1 * report.courses.recorded.cost);
  EXPECT_EQ(report.courses.replayed.never_placed, 0);
  EXPECT_EQ(report.courses.replayed.moments.back().nodes, 0);
  EXPECT_THAT(report.courses.notes, IsEmpty());
  ASSERT_THAT(report.bought, Not(IsEmpty()));
  EXPECT_EQ(report.bought.front().node_pool, "general");
  EXPECT_GT(report.bought.front().price, 0.0);
  EXPECT_THAT(text, AllOf(HasSubstr("nothing was bought and nothing written"),
                          HasSubstr("It would have bought:"), HasSubstr("CLUSTER"),
                          HasSubstr("SHADOW"), HasSubstr(report.bought.front().instance_type)));
  EXPECT_EQ(cluster.writes(), 0);
}

TEST(Shadow, TellsDecisionsALineNowAndThenAndMetrics) {
  RecordedCluster cluster;
  cluster.run_for(minutes(1));
  Shadowing shadow(cluster);
  cluster.deploy(6);
  cluster.run_for(minutes(6));
  EXPECT_THAT(shadow.decisions, Contains(HasSubstr("\"decision\":\"purchase\"")));
  EXPECT_THAT(shadow.log->lines,
              Contains(AllOf(HasSubstr("\"message\":\"the shadow so far\""),
                             HasSubstr("\"cluster-nodes\":"), HasSubstr("\"cost\":"))));
  for (const auto* course : {"cluster", "shadow"}) {
    const base::MetricLabels labels{{"course", course}};
    EXPECT_GE(shadow.metrics.value("millwright_shadow_nodes", labels), 1) << course;
    EXPECT_GT(shadow.metrics.value("millwright_shadow_price_per_hour", labels), 0) << course;
    EXPECT_GT(shadow.metrics.value("millwright_shadow_cost", labels), 0) << course;
    EXPECT_GE(shadow.metrics.value("millwright_shadow_nodeclaims_made", labels), 1) << course;
    EXPECT_EQ(shadow.metrics.value("millwright_shadow_pods_waiting", labels), 0) << course;
  }
}

TEST(Shadow, ItsOwnCourseFollowsTheNodePoolsOfTheCluster) {
  RecordedCluster cluster;
  cluster.run_for(minutes(1));
  Shadowing shadow(cluster);
  cluster.change(model::kNodePoolResource, {{}, "general"}, [](boost::json::value& pool) {
    pool.at("spec").as_object()["limits"] = boost::json::object{{"cpu", "0"}};
  });
  cluster.run_for(minutes(1));
  cluster.deploy(4);
  cluster.run_for(minutes(5));
  const auto report = shadow.report();
  EXPECT_THAT(report.bought, IsEmpty());
  EXPECT_EQ(report.courses.replayed.moments.back().waiting, 4);
  EXPECT_THAT(shadow.end(), HasSubstr("It would have bought nothing."));
}

TEST(Shadow, PodsOfJobsEndWhenThoseOfTheClusterDo) {
  RecordedCluster cluster;
  cluster.run_for(minutes(1));
  Shadowing shadow(cluster);
  cluster.create(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: build, namespace: shop}
spec:
  completions: 3
  parallelism: 3
  template:
    metadata: {labels: {app: build}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: main, resources: {requests: {cpu: "2"}}}]
)");
  cluster.run_for(minutes(10));
  const auto report = shadow.report();
  EXPECT_GE(report.courses.replayed.claims, 1);
  EXPECT_EQ(report.courses.replayed.moments.back().nodes, 0) << "the Job is over there, too";
  EXPECT_NEAR(report.courses.replayed.machine_hours, report.courses.recorded.machine_hours,
              1.0 / 60);
}

TEST(Shadow, PodsOfNobodyComeAndGoAsTheyDo) {
  RecordedCluster cluster;
  cluster.run_for(minutes(1));
  Shadowing shadow(cluster);
  cluster.create(
      "{apiVersion: v1, kind: Pod, metadata: {name: alone, namespace: shop}, spec: {containers: "
      "[{name: main, image: main, resources: {requests: {cpu: \"2\"}}}]}}");
  cluster.run_for(minutes(3));
  EXPECT_EQ(shadow.report().courses.replayed.moments.back().nodes, 1);
  ASSERT_TRUE(cluster.api().remove(model::kPodResource, {"shop", "alone"}));
  cluster.run_for(minutes(5));
  EXPECT_EQ(shadow.report().courses.replayed.moments.back().nodes, 0);
}

TEST(Shadow, AClusterWithoutNodeClassesIsRefusedWithWhatToDo) {
  RecordedCluster cluster;
  ASSERT_TRUE(cluster.api().remove(model::kNodePoolResource, {{}, "general"}));
  ASSERT_TRUE(cluster.api().remove(model::kKwokNodeClassResource, {{}, "machines"}));
  cluster.run_for(minutes(1));
  Shadowing shadow(cluster);
  cluster.run_for(minutes(2));
  EXPECT_TRUE(shadow.has_ended());
  EXPECT_THAT(shadow.end(), HasSubstr("there is no NodeClass in the cluster"));
}

TEST(Shadow, WithoutTheRightToListPodsItEndsAndSaysSo) {
  RecordedCluster cluster;
  cluster.api().set_faults({.forbidden = {"pods"}});
  Shadowing shadow(cluster);
  cluster.run_for(minutes(1));
  EXPECT_TRUE(shadow.has_ended());
  EXPECT_THAT(shadow.end(), HasSubstr("may not list pods"));
}

TEST(Shadow, WithATokenThatTheApiServerDoesNotKnowItEndsAndSaysSo) {
  RecordedCluster cluster;
  cluster.expire_token();
  Shadowing shadow(cluster);
  EXPECT_TRUE(shadow.has_ended());
  EXPECT_THAT(shadow.end(), HasSubstr("log in again"));
}

TEST(Shadow, WithoutTheRightToListAnotherKindItGoesOnWithoutIt) {
  RecordedCluster cluster;
  cluster.api().set_faults({.forbidden = {"csinodes"}});
  Shadowing shadow(cluster);
  cluster.run_for(minutes(1));
  EXPECT_TRUE(shadow.has_begun());
  EXPECT_THAT(shadow.report().courses.notes, ElementsAre(HasSubstr("without csinodes")));
}

}  // namespace
}  // namespace millwright::test
