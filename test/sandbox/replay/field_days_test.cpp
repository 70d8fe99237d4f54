// Days that `scripts/bench field --record` wrote on a real control plane, replayed: test/data/days.

#include "app/replay/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <ostream>
#include <stdexcept>

namespace millwright::test {
namespace {

struct FieldDay {
  const char* file;
  bool by_karpenter = false;
};
std::ostream& operator<<(std::ostream& out, const FieldDay& day) {
  return out << day.file;
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

class FieldDays : public testing::TestWithParam<FieldDay> {
 protected:
  static app::ReplayReport replay() {
    app::ReplayRequest request;
    request.recording = GetParam().file;
    auto report = app::replay_day(request, read_day);
    if (!report) {
      throw std::runtime_error(report.error().message);
    }
    return *std::move(report);
  }
};

// Karpenter's day is cheaper with us, our own costs what it did, and either is replayed to the same
// bytes each time.
TEST_P(FieldDays, ComeToWhatTheyShould) {
  const auto report = replay();
  EXPECT_EQ(to_json(replay()), to_json(report));
  EXPECT_THAT(report.notes, testing::Each(testing::HasSubstr("could not be listed")))
      << "NodeClasses of clouds that are not there";
  EXPECT_EQ(report.recorded.never_placed, 0U);
  EXPECT_EQ(report.replayed.never_placed, 0U);
  EXPECT_GT(report.recorded.cost, 0);
  if (GetParam().by_karpenter) {
    EXPECT_LT(report.replayed.cost, report.recorded.cost);
    EXPECT_LE(*report.replayed.longest_wait, *report.recorded.longest_wait);
  } else {
    EXPECT_NEAR(report.replayed.cost, report.recorded.cost, 0.1 * report.recorded.cost);
  }
  EXPECT_LE(report.replayed.moments.back().price, 1.01 * report.recorded.moments.back().price);
}

INSTANTIATE_TEST_SUITE_P(All, FieldDays,
                         testing::Values(FieldDay{"rolling-update-peer.jsonl.gz", true},
                                         FieldDay{"rolling-update-ours.jsonl.gz"}),
                         [](const auto& test) {
                           std::string name = test.param.file;
                           name.resize(name.find('.'));
                           for (auto& letter : name) {
                             letter = letter == '-' ? '_' : letter;
                           }
                           return name;
                         });

}  // namespace
}  // namespace millwright::test
