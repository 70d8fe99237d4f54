#include "app/program/decision_file.hpp"

#include "support/records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace millwright::app {
namespace {

class DecisionFiles : public testing::Test {
 protected:
  DecisionFiles() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~DecisionFiles() override { std::filesystem::remove_all(folder_); }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("decisions-" + std::to_string(testing::UnitTest::GetInstance()->random_seed()) + "-" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string path_ = (folder_ / "decisions.jsonl").string();
};

TEST_F(DecisionFiles, AreWrittenOnAtTheirEnd) {
  (*DecisionFile::open(path_, {}))->write("one");
  (*DecisionFile::open(path_, {}))->write("two");
  EXPECT_EQ(text_of(path_), "one\ntwo\n");
}

TEST_F(DecisionFiles, AreBegunAnewWhenTheyAreLarge) {
  const auto file = *DecisionFile::open(path_, {}, 10);
  for (const auto* line : {"1234", "5678", "next"}) {
    file->write(line);
  }
  EXPECT_EQ(text_of(path_ + ".1"), "1234\n5678\n");
  EXPECT_EQ(text_of(path_), "next\n");
  EXPECT_EQ(file->lost(), 0U);
}

TEST_F(DecisionFiles, ThatCannotBeWrittenAreRefusedAtTheStart) {
  const auto file = DecisionFile::open((folder_ / "missing" / "file").string(), {});
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message, testing::HasSubstr("--decision-log: cannot write"));
}

// As on a full disk.
TEST_F(DecisionFiles, ThatTakeNothingMoreAreToldOfOnce) {
  const auto records = std::make_shared<test::Records>();
  const auto file = *DecisionFile::open("/dev/full", base::Logger(records, "decision-log"));
  file->write("one");
  file->write("two");
  EXPECT_EQ(file->lost(), 2U);
  const auto text = records->text();
  EXPECT_THAT(text, testing::HasSubstr("cannot write /dev/full"));
  EXPECT_EQ(text.find("not recorded"), text.rfind("not recorded")) << text;
}

}  // namespace
}  // namespace millwright::app
