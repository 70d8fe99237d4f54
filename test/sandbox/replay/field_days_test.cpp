// Days that `scripts/bench field --record` wrote on a real control plane, replayed: test/data/days.

#include "app/replay/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>

namespace millwright::test {
namespace {

struct FieldDay {
  const char* work;
  bool by_karpenter = false;

  std::string file() const {
    return std::string(work) + (by_karpenter ? "-peer" : "-ours") + ".jsonl.gz";
  }
};
std::ostream& operator<<(std::ostream& out, const FieldDay& day) {
  return out << day.file();
}

// They are packed, since a pod is a line of a kilobyte each time that it changes.
base::Result<std::string> read_day(const std::string& name) {
  const std::string command = "gzip -dc '" TEST_DATA_DIR "/days/" + name + "'";
  const auto close = [](std::FILE* file) { pclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> unpacked(popen(command.c_str(), "r"), close);
  if (unpacked == nullptr) {
    return base::fail(base::ErrorKind::Unavailable, "cannot run: " + command);
  }
  std::string text;
  std::array<char, 65536> part{};
  while (const auto size = std::fread(part.data(), 1, part.size(), unpacked.get())) {
    text.append(part.data(), size);
  }
  return text;
}

app::ReplayReport replay_file(const FieldDay& day, std::uint64_t seed = 1) {
  app::ReplayRequest request;
  request.recording = day.file();
  request.seed = seed;
  auto report = app::replay_day(request, read_day);
  if (!report) {
    throw std::runtime_error(report.error().message);
  }
  return *std::move(report);
}

constexpr double kPodsOfANode = 16;

// What was bought, removed and evicted is what the field did, but for a NodeClaim in ten, a node
// with its pods and an eviction in four: which pods kube-scheduler puts where is chance in part.
void expect_alike(const app::DayFigures& replayed, const app::DayFigures& field) {
  EXPECT_NEAR(static_cast<double>(replayed.claims), static_cast<double>(field.claims),
              0.1 * static_cast<double>(field.claims));
  EXPECT_NEAR(static_cast<double>(replayed.removed), static_cast<double>(field.removed), 1);
  EXPECT_NEAR(static_cast<double>(replayed.evicted), static_cast<double>(field.evicted),
              0.25 * static_cast<double>(field.evicted) + kPodsOfANode);
  EXPECT_LE(replayed.most_nodes, field.most_nodes + 4);
}

class FieldDays : public testing::TestWithParam<FieldDay> {
 protected:
  static app::ReplayReport replay() { return replay_file(GetParam()); }
};

// Karpenter's day is no dearer with us, with no more NodeClaims and evictions; our own costs what
// it did; and either is replayed to the same bytes each time.
TEST_P(FieldDays, ComeToWhatTheyShould) {
  const auto report = replay();
  EXPECT_EQ(to_json(replay()), to_json(report));
  EXPECT_THAT(report.notes, testing::Each(testing::HasSubstr("could not be listed")))
      << "NodeClasses of clouds that are not there";
  EXPECT_EQ(report.recorded.never_placed, 0U);
  EXPECT_EQ(report.replayed.never_placed, 0U);
  EXPECT_GT(report.recorded.cost, 0);
  if (GetParam().by_karpenter) {
    EXPECT_LE(report.replayed.cost, report.recorded.cost);
    EXPECT_LE(report.replayed.claims, report.recorded.claims);
    EXPECT_LE(report.replayed.evicted, report.recorded.evicted);
    EXPECT_LE(*report.replayed.longest_wait, *report.recorded.longest_wait);
  } else {
    EXPECT_NEAR(report.replayed.cost, report.recorded.cost, 0.05 * report.recorded.cost);
    expect_alike(report.replayed, report.recorded);
  }
  EXPECT_LE(report.replayed.moments.back().price, 1.01 * report.recorded.moments.back().price);
}

// The same work, done by Karpenter in the recording and by us in the field: the replay of its day
// says what we did.
TEST(FieldDaysBeside, KarpentersDayIsReplayedAsOurOwnWas) {
  const auto ours = replay_file({"rolling-update"}).recorded;
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    expect_alike(replay_file({"rolling-update", true}, seed).replayed, ours);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FieldDays,
                         testing::Values(FieldDay{"rolling-update", true},
                                         FieldDay{"rolling-update"},
                                         FieldDay{"mixed-arrival", true}, FieldDay{"mixed-arrival"},
                                         FieldDay{"drift", true}, FieldDay{"drift"}),
                         [](const auto& test) {
                           std::string name = test.param.work;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + (test.param.by_karpenter ? "_by_karpenter" : "_by_us");
                         });

}  // namespace
}  // namespace millwright::test
