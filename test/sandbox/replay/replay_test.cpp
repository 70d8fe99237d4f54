// `millwright replay` of what `millwright record` wrote of a sandbox cluster.

#include "app/replay/replay.hpp"

#include "sandbox/replay/recorded_cluster.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace millwright::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Two pods at first, thirty from the fifth minute, none from the fifteenth.
std::string day_of(const RecordedOptions& options) {
  RecordedCluster cluster(options);
  cluster.deploy(2);
  cluster.run_for(std::chrono::minutes(3));
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(5));
  cluster.scale(30);
  cluster.run_for(std::chrono::minutes(10));
  cluster.scale(0);
  cluster.run_for(std::chrono::minutes(10));
  return cluster.end_recording();
}

const std::string& busy_day() {
  static const std::string kDay = day_of({});
  return kDay;
}

class Replay : public testing::Test {
 protected:
  base::Result<app::ReplayReport> ask(const std::string& recording,
                                      const std::string& node_pools = {}) {
    app::ReplayRequest request;
    request.recording = "day";
    request.node_pools = node_pools.empty() ? "" : "pools.yaml";
    const std::map<std::string, std::string> files{{"day", recording}, {"pools.yaml", node_pools}};
    return app::replay_day(request, [&](const std::string& path) -> base::Result<std::string> {
      return files.at(path);
    });
  }

  app::ReplayReport replay(const std::string& recording, const std::string& node_pools = {}) {
    auto report = ask(recording, node_pools);
    if (!report) {
      throw std::runtime_error(report.error().message);
    }
    return *std::move(report);
  }

  std::string error_of(const std::string& recording) {
    const auto report = ask(recording);
    EXPECT_FALSE(report);
    return report ? std::string() : report.error().message;
  }
};

double seconds_of(base::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

const app::DayMoment& moment_at(const app::DayFigures& figures, const app::ReplayReport& report,
                                base::Duration after) {
  return *std::find_if(figures.moments.begin(), figures.moments.end(),
                       [&](const auto& moment) { return moment.at - report.start >= after; });
}

TEST_F(Replay, TheSameProgramOnTheSameDayComesToTheSame) {
  const auto report = replay(busy_day());
  // And those that moved when nodes were consolidated, which follows the order of names.
  EXPECT_GE(report.recorded.pods, 28);
  EXPECT_GE(report.replayed.pods, 28);
  EXPECT_EQ(report.replayed.never_placed, 0);
  EXPECT_GT(report.recorded.cost, 0);
  EXPECT_NEAR(report.replayed.cost, report.recorded.cost, 0.1 * report.recorded.cost);
  EXPECT_GE(report.recorded.claims, 1);
  EXPECT_GE(report.replayed.claims, 1);
  EXPECT_EQ(report.replayed.removed, report.replayed.claims + 1) << "and the one of the start";
  ASSERT_TRUE(report.replayed.longest_wait);
  EXPECT_LT(*report.replayed.longest_wait, std::chrono::minutes(2));
  const auto minutes = [](int count) { return std::chrono::minutes(count); };
  for (const auto* figures : {&report.recorded, &report.replayed}) {
    EXPECT_EQ(moment_at(*figures, report, minutes(3)).nodes, 1);
    EXPECT_GT(moment_at(*figures, report, minutes(12)).price,
              moment_at(*figures, report, minutes(3)).price);
    EXPECT_EQ(figures->moments.back().nodes, 0);
    EXPECT_EQ(figures->moments.back().price, 0);
  }
  EXPECT_THAT(report.notes, testing::IsEmpty());
}

TEST_F(Replay, TheSameSeedGivesTheSameBytes) {
  const auto first = replay(busy_day());
  const auto second = replay(busy_day());
  EXPECT_EQ(to_text(first), to_text(second));
  EXPECT_EQ(to_json(first), to_json(second));
  EXPECT_EQ(to_svg(first), to_svg(second));
  EXPECT_THAT(to_text(first), HasSubstr("NodeClaims made"));
  EXPECT_THAT(to_svg(first), testing::EndsWith("</svg>\n"));
}

TEST_F(Replay, EditedNodePoolsCount) {
  const auto report = replay(busy_day(), general_pool("limits: {cpu: \"1\"}"));
  EXPECT_EQ(report.replayed.most_nodes, 1);
  EXPECT_GT(report.replayed.never_placed, 0);
  EXPECT_EQ(report.recorded.never_placed, 0);
}

// Machines of the start fit their NodePool as they did that day, and are not replaced.
TEST_F(Replay, WhatWasThereAtTheStartHasNotDrifted) {
  RecordedCluster cluster;
  cluster.change(model::kNodePoolResource, {{}, "general"}, [](boost::json::value& pool) {
    pool.at("spec").at("template").as_object()["metadata"] = boost::json::object{
        {"labels", {{"edition", "e1"}}}, {"annotations", {{"example.com/word", "left-out"}}}};
  });
  cluster.deploy(10);
  cluster.run_for(std::chrono::minutes(3));
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(10));
  const auto report = replay(cluster.end_recording());
  EXPECT_EQ(report.recorded.claims, 0U);
  EXPECT_EQ(report.replayed.claims, 0U);
  EXPECT_EQ(report.replayed.evicted, 0U);
}

// Pods that wait at the start are planned for with the given NodePools, not with the recorded ones.
TEST_F(Replay, EditedNodePoolsCountFromTheStart) {
  RecordedCluster cluster;
  cluster.change(model::kNodePoolResource, {{}, "general"}, [](boost::json::value& pool) {
    pool.at("spec").as_object()["limits"] = boost::json::object{{"cpu", "0"}};
  });
  cluster.deploy(40);
  cluster.run_for(std::chrono::minutes(3));
  cluster.begin_recording();
  cluster.change(model::kNodePoolResource, {{}, "general"},
                 [](boost::json::value& pool) { pool.at("spec").as_object().erase("limits"); });
  cluster.run_for(std::chrono::minutes(5));
  const auto day = cluster.end_recording();
  const auto small = [](const std::string& limit) {
    return general_pool(
        "limits: {nodes: " + limit +
        "}\n  disruption: {consolidateAfter: 30s, consolidationPolicy: WhenEmptyOrUnderutilized}");
  };
  EXPECT_EQ(replay(day, small("0")).replayed.claims, 0U);
  const auto report = replay(day, small("1"));
  EXPECT_EQ(report.replayed.most_nodes, 1U);
  EXPECT_LE(report.replayed.claims, 1U);
}

// Machines boot, and pods start and end, for as long as they did that day.
TEST_F(Replay, GoesAtThePaceOfTheDay) {
  sandbox::KubeletOptions slow;
  slow.ready_after = std::chrono::seconds(20);
  slow.pod_start = std::chrono::seconds(15);
  slow.pod_stop = std::chrono::seconds(3);
  slow.pod_removal = std::chrono::seconds(4);
  const std::chrono::seconds boot(40);
  RecordedCluster cluster({.boot = {boot, boot, boot}, .kubelet = slow});
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(1));
  cluster.deploy(20);
  cluster.run_for(std::chrono::minutes(5));
  cluster.scale(0);
  cluster.run_for(std::chrono::minutes(5));
  const auto report = replay(cluster.end_recording());
  ASSERT_TRUE(report.pace.boot);
  EXPECT_EQ(report.pace.boot->typical, boot);
  EXPECT_EQ(report.pace.node_ready, slow.ready_after);
  EXPECT_EQ(report.pace.pod_start, slow.pod_start);
  EXPECT_EQ(report.pace.pod_stop, slow.pod_stop + slow.pod_removal) << "within the grace period";
  ASSERT_TRUE(report.recorded.median_wait && report.replayed.median_wait);
  EXPECT_GT(*report.recorded.median_wait, std::chrono::minutes(1));
  EXPECT_NEAR(seconds_of(*report.replayed.median_wait), seconds_of(*report.recorded.median_wait),
              2);
  EXPECT_NEAR(report.replayed.machine_hours, report.recorded.machine_hours,
              0.02 * report.recorded.machine_hours);
  EXPECT_THAT(to_text(report), HasSubstr("Paced as recorded: a launch takes 0.0s, a boot 40.0s"));
}

// A delay that the NodeClass asks for is not counted once more as part of the boot.
TEST_F(Replay, ADelayOfRegistrationIsNoPartOfTheBoot) {
  RecordedCluster cluster;
  cluster.change(model::kKwokNodeClassResource, {{}, "machines"}, [](boost::json::value& machines) {
    machines.as_object()["spec"] = boost::json::object{{"nodeRegistrationDelay", "30s"}};
  });
  cluster.begin_recording();
  cluster.deploy(20);
  cluster.run_for(std::chrono::minutes(5));
  const auto report = replay(cluster.end_recording());
  ASSERT_TRUE(report.pace.boot);
  EXPECT_LT(report.pace.boot->most, std::chrono::seconds(1));
  EXPECT_NEAR(seconds_of(*report.replayed.median_wait), seconds_of(*report.recorded.median_wait),
              2);
}

TEST_F(Replay, AFileOfAnythingElseIsRefused) {
  const auto report = ask(busy_day(), "{apiVersion: v1, kind: Pod, metadata: {name: a}}");
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("--nodepools takes NodePools and NodeClasses"));
}

// As a recording is when a machine registers while kinds are being listed: the lines of NodeClaims
// from before "listed" come after it, or not at all.
std::string with_late_claims(const std::string& day, bool come_at_all) {
  std::istringstream lines(day);
  std::string line;
  std::string before;
  std::string late;
  while (std::getline(lines, line) && line.find("\"listed\"") == std::string::npos) {
    // A Node names its NodeClaim as its owner, too.
    const bool is_claim =
        line.find(R"("object":{"apiVersion":"karpenter.sh/v1","kind":"NodeClaim")") !=
        std::string::npos;
    (is_claim ? late : before) += line + "\n";
  }
  const std::string at = line.substr(0, line.find(',') + 1);
  EXPECT_THAT(late, Not(testing::IsEmpty()));
  std::istringstream claims(late);
  std::string after;
  for (std::string claim; std::getline(claims, claim);) {
    after += at + claim.substr(claim.find(',') + 1) + "\n";
  }
  return before + line + "\n" + (come_at_all ? after : "") +
         day.substr(static_cast<std::size_t>(lines.tellg()));
}

TEST_F(Replay, BeginsWhenTheClaimsOfAllMachinesAreKnown) {
  EXPECT_TRUE(to_json(replay(with_late_claims(busy_day(), true))) == to_json(replay(busy_day())));
}

TEST_F(Replay, WithoutTheClaimOfAMachineItSaysWhatIsMissing) {
  EXPECT_THAT(error_of(with_late_claims(busy_day(), false)),
              HasSubstr("its NodeClaim is not in the recording"));
}

TEST_F(Replay, HiddenNamesChangeNothingThatCounts) {
  RecordedOptions options;
  options.hide_names = true;
  const auto hidden = replay(day_of(options));
  const auto plain = replay(busy_day());
  EXPECT_EQ(hidden.recorded.cost, plain.recorded.cost);
  EXPECT_GE(hidden.replayed.pods, 28);
  EXPECT_EQ(hidden.replayed.removed, hidden.replayed.claims + 1) << "and no claim drifts";
  EXPECT_EQ(hidden.replayed.never_placed, 0);
  EXPECT_NEAR(hidden.replayed.cost, plain.replayed.cost, 0.1 * plain.replayed.cost);
  EXPECT_THAT(hidden.notes, testing::IsEmpty());
}

TEST_F(Replay, ARolloutIsOneThoughWhatChangedIsNotWritten) {
  RecordedCluster cluster;
  cluster.deploy(4);
  cluster.run_for(std::chrono::minutes(3));
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(2));
  cluster.change(model::kDeploymentResource, {"shop", "web"}, [](boost::json::value& object) {
    object.at_pointer("/spec/template/spec/containers/0/env/0/value") = "another";
  });
  cluster.run_for(std::chrono::minutes(5));
  const auto report = replay(cluster.end_recording());
  EXPECT_GE(report.recorded.pods, 4);
  EXPECT_GE(report.replayed.pods, 4);
}

TEST_F(Replay, JobsRunAsLongAsTheyDid) {
  RecordedCluster cluster;
  cluster.begin_recording();
  cluster.create(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: build, namespace: shop}
spec:
  template:
    metadata: {annotations: {sandbox.millwright.io/run-for: 10m}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: main, resources: {requests: {cpu: "2"}}}]
)");
  cluster.run_for(std::chrono::minutes(30));
  auto text = cluster.end_recording();
  // As if nobody had said so beforehand, as nobody does in a real cluster.
  const std::string said = "\"sandbox.millwright.io/run-for\":\"10m\",";
  for (auto at = text.find(said); at != std::string::npos; at = text.find(said)) {
    text.erase(at, said.size());
  }
  const auto report = replay(text);
  EXPECT_GT(report.recorded.machine_hours, 10.0 / 60);
  EXPECT_NEAR(report.replayed.machine_hours, report.recorded.machine_hours, 1.0 / 60);
  EXPECT_EQ(report.recorded.removed, 1) << "and its pod, which had ended, with the node";
  EXPECT_EQ(report.recorded.evicted, 0);
  EXPECT_EQ(report.replayed.evicted, 0);
}

TEST_F(Replay, PodsOfUnknownOwnersComeAndGoAsTheyDid) {
  RecordedCluster cluster;
  const auto owner = cluster.api().get(model::kNodePoolResource, {{}, "general"}).value();
  const std::string uid(owner->at("metadata").at("uid").as_string());
  const auto pod = [&cluster, &uid](const std::string& name, const std::string& cpu) {
    cluster.create(R"(
apiVersion: v1
kind: Pod
metadata:
  name: )" + name + R"(
  namespace: shop
  labels: {app: spark}
  # Nobody makes another in place of one that is evicted; in the replay somebody does.
  annotations: {karpenter.sh/do-not-disrupt: "true"}
  ownerReferences:
  - {apiVersion: karpenter.sh/v1, kind: NodePool, name: general, uid: )" +
                   uid + R"(, controller: true}
spec: {containers: [{name: main, image: main, resources: {requests: {cpu: ")" +
                   cpu + "\"}}}]}\n");
  };
  pod("early", "1");
  cluster.run_for(std::chrono::minutes(3));
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(3));
  pod("late", "20");
  cluster.run_for(std::chrono::minutes(6));
  EXPECT_TRUE(cluster.api().remove(model::kPodResource, {"shop", "late"}));
  cluster.run_for(std::chrono::minutes(6));
  const auto report = replay(cluster.end_recording());
  EXPECT_EQ(report.replayed.pods, 1);
  EXPECT_EQ(report.replayed.never_placed, 0);
  EXPECT_EQ(report.replayed.claims, 1);
  EXPECT_EQ(report.replayed.most_nodes, 2);
  EXPECT_EQ(report.replayed.moments.back().nodes, report.recorded.moments.back().nodes);
  EXPECT_THAT(report.notes, Contains(HasSubstr("2 pod(s) of owners unknown here")));
}

TEST_F(Replay, NodesOfNobodyComeAndGoAsTheyDid) {
  RecordedCluster cluster;
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(3));
  boost::json::value node = boost::json::parse(R"({
    "metadata": {"name": "fixed", "uid": "uid-of-fixed"},
    "spec": {"providerID": "fixed://1"},
    "status": {"capacity": {"cpu": "8", "memory": "32Gi", "pods": "110"},
               "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"},
               "conditions": [{"type": "Ready", "status": "True"}]}})");
  ASSERT_TRUE(cluster.api().restore(model::kNodeResource, node));
  cluster.run_for(std::chrono::minutes(3));
  cluster.deploy(4);
  cluster.run_for(std::chrono::minutes(6));
  cluster.scale(0);
  cluster.run_for(std::chrono::minutes(1));
  ASSERT_TRUE(cluster.api().remove(model::kNodeResource, {{}, "fixed"}));
  cluster.run_for(std::chrono::minutes(3));
  const auto report = replay(cluster.end_recording());
  EXPECT_EQ(report.replayed.claims, 0) << "the pods fit where nobody has to buy";
  EXPECT_EQ(report.replayed.pods, 4);
  EXPECT_EQ(report.replayed.never_placed, 0);
  EXPECT_EQ(report.replayed.most_nodes, 1);
  EXPECT_EQ(report.replayed.moments.back().nodes, 0);
}

TEST_F(Replay, ALastLineThatWasCutOffIsLeftOut) {
  auto text = busy_day();
  const auto end = text.rfind('\n', text.size() - 2);
  text.resize(text.rfind('\n', end - 1) + 40);
  const auto report = replay(text);
  EXPECT_THAT(report.notes, Contains(HasSubstr("cut off")));
  EXPECT_GE(report.replayed.pods, 28);
}

TEST_F(Replay, WhatIsNoRecordingIsRefusedWithItsLineAndField) {
  EXPECT_THAT(error_of(""), HasSubstr("day line 1: recording: the file is empty"));
  EXPECT_THAT(error_of("\x1f\x8b\x08"), HasSubstr("packed by gzip; unpack it with gunzip"));
  EXPECT_THAT(error_of("{\"kind\":\"List\"}\n"), HasSubstr("day line 1: recording: is missing"));
  EXPECT_THAT(error_of("{\"recording\":9,\"start\":\"2026-01-02T03:04:05Z\"}\n"),
              HasSubstr("version 9 is not known"));
  const std::string header = "{\"recording\":1,\"start\":\"2026-01-02T03:04:05Z\"}\n";
  const auto with = [&](const std::string& line) { return error_of(header + line + "\n"); };
  EXPECT_THAT(error_of(header), HasSubstr("ends before the cluster was listed"));
  EXPECT_THAT(with("nonsense"), HasSubstr("day line 2: "));
  EXPECT_THAT(with("{\"at\":\"yesterday\"}"), HasSubstr("day line 2: at: \"yesterday\" must be"));
  EXPECT_THAT(with("{\"at\":\"2026-01-02T03:04:04Z\",\"listed\":true}"),
              HasSubstr("day line 2: at: is before the line before"));
  EXPECT_THAT(with("{\"at\":\"2027-01-02T03:04:04Z\",\"listed\":true}"),
              HasSubstr("day line 2: at: is more than 31 days"));
  EXPECT_THAT(with("{\"at\":\"2026-01-02T03:04:06Z\",\"object\":{\"apiVersion\":\"v1\","
                   "\"kind\":\"Secret\",\"metadata\":{\"name\":\"a\"}}}"),
              HasSubstr("day line 2: object.kind: \"Secret\""));
  EXPECT_THAT(with("{\"at\":\"2026-01-02T03:04:06Z\",\"object\":{\"apiVersion\":\"v1\","
                   "\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}}"),
              HasSubstr("day line 2: object.metadata.namespace: is missing"));
  EXPECT_THAT(with("{\"at\":\"2026-01-02T03:04:06Z\",\"object\":{\"apiVersion\":\"v1\","
                   "\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\","
                   "\"uid\":\"u\"},\"spec\":{\"containers\":7}}}"),
              testing::AllOf(HasSubstr("day line 2: object: "), HasSubstr("spec.containers")));
}

}  // namespace
}  // namespace millwright::test
