#include "millwright/base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::base {
namespace {

using testing::ElementsAre;
using testing::Pair;

struct Record {
  LogLevel level;
  std::string logger;
  std::string message;
  std::vector<LogField> fields;
};

class Recorder final : public LogSink {
 public:
  explicit Recorder(LogLevel level) : level_(level) {}
  bool enabled(LogLevel level) const override { return level >= level_; }
  void write(LogLevel level, std::string_view logger, std::string_view message,
             const std::vector<LogField>& fields) override {
    records.push_back({level, std::string(logger), std::string(message), fields});
  }
  std::vector<Record> records;

 private:
  LogLevel level_;
};

TEST(Logger, DiscardsWithoutASink) {
  Logger().error("nobody hears this");
}

TEST(Logger, PassesOnlyWhatTheSinkWants) {
  const auto sink = std::make_shared<Recorder>(LogLevel::Warn);
  const Logger logger(sink, "a");
  logger.debug("1");
  logger.info("2");
  logger.warn("3");
  logger.error("4");
  ASSERT_EQ(sink->records.size(), 2);
  EXPECT_EQ(sink->records[0].message, "3");
  EXPECT_EQ(sink->records[1].level, LogLevel::Error);
}

TEST(Logger, CarriesItsFieldsAndALaterOneOfTheSameNameWins) {
  const auto sink = std::make_shared<Recorder>(LogLevel::Debug);
  const Logger base(sink, "base");
  const Logger claim = base.named("claims").with({{"claim", "a"}, {"pool", "p"}});
  claim.info("launched", {{"claim", "b"}, {"zone", "z"}});
  base.info("plain");
  ASSERT_EQ(sink->records.size(), 2);
  EXPECT_EQ(sink->records[0].logger, "claims");
  EXPECT_THAT(sink->records[0].fields,
              ElementsAre(Pair("claim", "b"), Pair("pool", "p"), Pair("zone", "z")));
  EXPECT_EQ(sink->records[1].logger, "base");
  EXPECT_TRUE(sink->records[1].fields.empty());
}

std::string printed(LogFormat format, const std::function<void(const Logger&)>& use) {
  testing::internal::CaptureStdout();
  const auto now = [] { return *parse_rfc3339("2026-01-02T03:04:05.678Z"); };
  use(Logger(stdout_sink(LogLevel::Info, format, now), "controller"));
  return testing::internal::GetCapturedStdout();
}

TEST(StdoutSink, WritesOneJsonObjectPerLine) {
  const std::string text = printed(LogFormat::Json, [](const Logger& logger) {
    logger.debug("not shown");
    logger.info("said \"hi\"\\", {{"a\n", "\x01\t"}});
    logger.with({{"k", "v"}}).error("bad");
  });
  EXPECT_EQ(text,
            "{\"level\":\"INFO\",\"time\":\"2026-01-02T03:04:05.678Z\",\"logger\":\"controller\","
            "\"message\":\"said \\\"hi\\\"\\\\\",\"a\\n\":\"\\u0001\\t\"}\n"
            "{\"level\":\"ERROR\",\"time\":\"2026-01-02T03:04:05.678Z\",\"logger\":\"controller\","
            "\"message\":\"bad\",\"k\":\"v\"}\n");
}

struct Line {
  std::string logger = "controller";
  std::string message;
  std::vector<LogField> fields;
  std::string json;  // after level and time
  std::string text;  // after time and level
};

TEST(Lines, AreLaidOutAsKarpenterLaysThemOut) {
  const std::vector<Line> lines{
      {.message = "created nodeclaim",
       .fields = {{"commit", "1234567"},
                  {"controller", "provisioner"},
                  {"namespace", ""},
                  {"name", ""},
                  {"reconcileID", "8e7c"},
                  {"NodePool", "default"},
                  {"NodeClaim", "default-abcde"},
                  {"requests", "cpu: 1"}},
       .json = R"-(,"logger":"controller","message":"created nodeclaim","commit":"1234567",)-"
               R"-("controller":"provisioner","namespace":"","name":"","reconcileID":"8e7c",)-"
               R"-("NodePool":{"name":"default"},"NodeClaim":{"name":"default-abcde"},)-"
               R"-("requests":"cpu: 1"})-",
       .text = R"-(controller.provisioner: created nodeclaim NodePool=default )-"
               R"-(NodeClaim=default-abcde requests="cpu: 1")-"},
      {.message = "could not schedule pod",
       .fields = {{"Pod", "shop/web-1"}, {"error", "too \"big\""}},
       .json = R"-(,"logger":"controller","message":"could not schedule pod",)-"
               R"-("Pod":{"name":"web-1","namespace":"shop"},"error":"too \"big\""})-",
       .text = R"-(controller: could not schedule pod Pod=shop/web-1 error="too \"big\"")-"},
      {.message = "found provisionable pod(s)",
       .fields = {{"Pods", "a/b, a/c"}},
       .json = R"-(,"logger":"controller","message":"found provisionable pod(s)",)-"
               R"-("Pods":"a/b, a/c"})-",
       .text = R"-(controller: found provisionable pod(s) Pods="a/b, a/c")-"},
      {.logger = "",
       .message = "nobody speaks",
       .fields = {},
       .json = R"-(,"message":"nobody speaks"})-",
       .text = "nobody speaks"}};
  for (const auto& line : lines) {
    EXPECT_EQ(json_line("T", LogLevel::Info, line.logger, line.message, line.fields),
              R"-({"level":"INFO","time":"T")-" + line.json);
    EXPECT_EQ(text_line("T", LogLevel::Info, line.logger, line.message, line.fields),
              "T INFO  " + line.text);
  }
}

TEST(StdoutSink, WritesTextAsOneLineWhateverItHolds) {
  const std::string text = printed(LogFormat::Text, [](const Logger& logger) {
    logger.warn("two\nlines", {{"plain", "v"}, {"empty", ""}, {"odd", "a b=\"c\"\n"}});
  });
  EXPECT_EQ(text,
            "2026-01-02T03:04:05.678Z WARN  controller: two lines plain=v empty=\"\" "
            "odd=\"a b=\\\"c\\\"\\n\"\n");
}

TEST(StdoutSink, DoesNotInterpretFormatMarks) {
  EXPECT_NE(printed(LogFormat::Text, [](const Logger& logger) { logger.info("{} %v {0}"); })
                .find("{} %v {0}"),
            std::string::npos);
}

}  // namespace
}  // namespace millwright::base
