// `millwright record` over a sandbox cluster: what is written, what never is, and how it ends.

#include "app/recording/recording_lines.hpp"
#include "sandbox/replay/recorded_cluster.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace millwright::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::vector<app::RecordingLine> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::string line;
  std::getline(stream, line);
  EXPECT_TRUE(app::parse_recording_header(line)) << line;
  std::vector<app::RecordingLine> lines;
  while (std::getline(stream, line)) {
    auto parsed = app::parse_recording_line(line);
    EXPECT_TRUE(parsed) << parsed.error().message << "\n" << line;
    lines.push_back(*std::move(parsed));
  }
  return lines;
}

std::size_t count_lines(const std::string& text, app::RecordingLine::Kind kind,
                        const model::Resource* resource = nullptr) {
  std::size_t count = 0;
  for (const auto& line : lines_of(text)) {
    count += line.kind == kind && (resource == nullptr || *line.resource == *resource) ? 1 : 0;
  }
  return count;
}

TEST(Record, WritesWhatThereIsAndWhatHappensWithTimes) {
  RecordedCluster cluster;
  cluster.deploy(2);
  cluster.run_for(std::chrono::minutes(2));
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(5));
  cluster.scale(1);
  cluster.run_for(std::chrono::minutes(5));
  const auto text = cluster.end_recording();
  const auto lines = lines_of(text);
  const auto listed = std::find_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.kind == app::RecordingLine::Kind::Listed;
  });
  ASSERT_NE(listed, lines.end());
  const auto pods_before = std::count_if(lines.begin(), listed, [](const auto& line) {
    return *line.resource == model::kPodResource;
  });
  EXPECT_EQ(pods_before, 2);
  const auto gone = std::find_if(listed, lines.end(), [](const auto& line) {
    return line.kind == app::RecordingLine::Kind::Gone && *line.resource == model::kPodResource;
  });
  ASSERT_NE(gone, lines.end());
  EXPECT_GE(gone->at - listed->at, std::chrono::minutes(4));
  EXPECT_FALSE(gone->uid.empty());
  EXPECT_EQ(lines.back().kind, app::RecordingLine::Kind::End);
  EXPECT_EQ(lines.back().reason, "stopped");
  EXPECT_EQ(cluster.outcome()->bytes, text.size());
  EXPECT_EQ(cluster.writes(), 0);
}

TEST(Record, NeverHoldsSecretsCommandsOrEnvironments) {
  RecordedCluster cluster;
  cluster.create(
      "{apiVersion: v1, kind: Secret, metadata: {name: word-of-secret, namespace: shop}, "
      "stringData: {password: word-of-password}}");
  cluster.deploy(1);
  cluster.run_for(std::chrono::minutes(2));
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(1));
  const auto text = cluster.end_recording();
  EXPECT_THAT(text, HasSubstr("\"web\""));
  EXPECT_THAT(text, Not(HasSubstr("word-of-")));
  EXPECT_THAT(text, Not(HasSubstr("managedFields")));
}

TEST(Record, WithHiddenNamesNoneIsLeft) {
  RecordedCluster cluster({.hide_names = true});
  cluster.deploy(1);
  cluster.run_for(std::chrono::minutes(2));
  cluster.begin_recording();
  cluster.scale(3);
  cluster.run_for(std::chrono::minutes(3));
  cluster.scale(0);
  cluster.run_for(std::chrono::minutes(3));
  const auto text = cluster.end_recording();
  for (const auto* name : {"web", "shop", "general", "machines", "kwok-"}) {
    EXPECT_THAT(text, Not(HasSubstr(std::string("\"") + name))) << name;
  }
  EXPECT_THAT(text, HasSubstr("c-4x-amd64-linux")) << "types are no names";
  EXPECT_GT(count_lines(text, app::RecordingLine::Kind::Gone, &model::kPodResource), 0);
}

TEST(Record, WhatChangesNothingThatIsKeptIsNoLine) {
  RecordedCluster cluster;
  cluster.deploy(1);
  cluster.run_for(std::chrono::minutes(5));
  cluster.begin_recording();
  const auto change = [&](const char* message) {
    cluster.change(model::kDeploymentResource, {"shop", "web"}, [&](boost::json::value& object) {
      object.at("metadata").as_object()["annotations"].as_object()["example.com/note"] = message;
    });
    cluster.run_for(std::chrono::seconds(5));
  };
  change("one");
  change("two");
  const auto text = cluster.end_recording();
  EXPECT_EQ(count_lines(text, app::RecordingLine::Kind::Object, &model::kDeploymentResource), 1);
}

TEST(Record, EndsAfterItsDuration) {
  RecordedCluster cluster({.duration = std::chrono::minutes(3)});
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(10));
  const auto lines = lines_of(cluster.end_recording());
  EXPECT_EQ(lines.back().reason, "duration");
  const auto listed = std::find_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.kind == app::RecordingLine::Kind::Listed;
  });
  EXPECT_EQ(lines.back().at - listed->at, std::chrono::minutes(3));
}

TEST(Record, EndsBeforeItsFileIsTooLargeWithAWholeLine) {
  constexpr std::uint64_t kMost = 40'000;
  RecordedCluster cluster({.most_bytes = kMost});
  cluster.begin_recording();
  cluster.deploy(60, "100m");
  cluster.run_for(std::chrono::minutes(10));
  const auto text = cluster.end_recording();
  EXPECT_LE(text.size(), kMost);
  EXPECT_GT(text.size(), kMost / 2);
  EXPECT_EQ(lines_of(text).back().reason, "size");
  EXPECT_THAT(text, EndsWith("\n"));
}

TEST(Record, GoesOnAfterWatchesAreCut) {
  RecordedOptions options;
  options.faults.watch_cut_rate = 0.3;
  RecordedCluster cluster(options);
  cluster.begin_recording();
  cluster.deploy(20, "100m");
  cluster.run_for(std::chrono::minutes(5));
  cluster.scale(0);
  cluster.run_for(std::chrono::minutes(5));
  const auto text = cluster.end_recording();
  EXPECT_EQ(count_lines(text, app::RecordingLine::Kind::Gone, &model::kPodResource), 20);
}

TEST(Record, FailsWithoutTheRightToListPods) {
  RecordedOptions options;
  options.faults.forbidden = {"pods"};
  RecordedCluster cluster(options);
  cluster.begin_recording();
  cluster.run_for(std::chrono::minutes(1));
  cluster.end_recording();
  ASSERT_FALSE(cluster.outcome());
  EXPECT_THAT(cluster.outcome().error().message, HasSubstr("may not list pods"));
}

TEST(Record, FailsAtOnceWhereTheApiServerDoesNotKnowWhoAsks) {
  RecordedCluster cluster;
  cluster.expire_token();
  cluster.begin_recording();
  cluster.end_recording();
  ASSERT_FALSE(cluster.outcome());
  EXPECT_THAT(cluster.outcome().error().message,
              AllOf(HasSubstr("Unauthorized"), HasSubstr("log in again")));
}

TEST(Record, GoesOnThoughItMayReadNothingForAWhile) {
  RecordedCluster cluster;
  cluster.begin_recording();
  cluster.api().set_faults({.forbidden = {"pods", "nodes"}});
  cluster.run_for(std::chrono::minutes(8));
  cluster.api().set_faults({});
  cluster.expire_token();
  cluster.run_for(std::chrono::minutes(8));
  cluster.renew_token();
  cluster.deploy(2);
  cluster.run_for(std::chrono::minutes(5));
  const auto text = cluster.end_recording();
  ASSERT_TRUE(cluster.outcome()) << cluster.outcome().error().message;
  EXPECT_EQ(cluster.outcome()->ended, "stopped");
  EXPECT_GE(count_lines(text, app::RecordingLine::Kind::Object, &model::kPodResource), 2);
}

TEST(Record, SaysWhatItCouldNotList) {
  RecordedOptions options;
  options.faults.forbidden = {"csinodes"};
  RecordedCluster cluster(options);
  cluster.begin_recording();
  cluster.end_recording();
  EXPECT_THAT(cluster.outcome()->without, testing::ElementsAre("csinodes"));
  EXPECT_TRUE(cluster.outcome()->listed);
}

}  // namespace
}  // namespace millwright::test
