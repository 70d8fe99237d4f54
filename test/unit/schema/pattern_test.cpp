#include "schema/engine/pattern.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace millwright::schema {
namespace {

struct MatchCase {
  std::string regex;
  std::vector<std::string> matching;
  std::vector<std::string> other;
};

TEST(Pattern, MatchesAsGoDoes) {
  const std::vector<MatchCase> cases{
      {"abc", {"abc", "xabcx"}, {"", "ab", "acb"}},
      {"^abc$", {"abc"}, {"xabc", "abcx", "abc\n"}},
      {"^a*b+c?$", {"b", "aabbc", "abc"}, {"", "ac", "bcc"}},
      {"^(ab|c)*d$", {"d", "abd", "abcabd"}, {"ad", "abcd "}},
      {"^a|b$", {"a", "ax", "xb", "b"}, {"", "xa", "bx"}},
      {"^(a|)$", {"", "a"}, {"aa", "b"}},
      {"^(a*)*$", {"", "aaa"}, {"b"}},
      {"^[a-cx-]+$", {"a", "-", "cabx-"}, {"d", ""}},
      {"^[^a-c]$", {"d", "\n"}, {"a", "dd"}},
      {R"(^[A-Za-z\d._-]{2,4}$)", {"a1", "._-9"}, {"a", "abcde", "a b"}},
      {"^(x{3}|y{2})$", {"xxx", "yy"}, {"xx", "y", "xxxx"}},
      {"^x{0,2}$", {"", "x", "xx"}, {"xxx"}},
      {R"(^a\.b\$$)", {"a.b$"}, {"axb$"}},
      {R"(^a\sb$)", {"a b", "a\tb"}, {"ab", "a_b"}},
      {"^.+$", {"a", "ä"}, {"", "a\nb"}},
      {"^(?:ab)+$", {"abab"}, {"aba"}},
      {"", {"", "anything"}, {}},
  };
  for (const MatchCase& test_case : cases) {
    const Pattern pattern(test_case.regex, "");
    for (const std::string& text : test_case.matching) {
      EXPECT_TRUE(pattern.matches(text)) << test_case.regex << " on \"" << text << '"';
    }
    for (const std::string& text : test_case.other) {
      EXPECT_FALSE(pattern.matches(text)) << test_case.regex << " on \"" << text << '"';
    }
  }
}

TEST(Pattern, RefusesWhatIsNoRegex) {
  for (const char* regex : {"a(", "a)", "[a", "*", "a{3,2}", R"((a)\1)", "(?=a)", "\\"}) {
    EXPECT_THROW(Pattern(regex, ""), std::invalid_argument) << regex;
  }
}

TEST(Pattern, TakesLinearTimeWhereBacktrackingWouldExplode) {
  const Pattern pattern("^(a+)+(a|a)*$", "");
  EXPECT_TRUE(pattern.matches(std::string(20000, 'a')));
  EXPECT_FALSE(pattern.matches(std::string(20000, 'a') + "b"));
}

TEST(Pattern, NamedPatternsTakeWhatKarpenterTakes) {
  const struct {
    const Pattern& pattern;
    std::vector<std::string> matching;
    std::vector<std::string> other;
  } cases[] = {
      {patterns::qualified_name(),
       {"a", "A_b.c-9", "example.com/a", "a.b-c.d/X"},
       {"", "-a", "a-", "/a", "a/", "Example.com/a", "a/b/c", "a b", "ä"}},
      {patterns::label_value(), {"", "a", "a.b_c-d"}, {"-a", "a.", "a b"}},
      {patterns::duration(), {"0s", "1h", "1h30m10s"}, {"", "1", "1d", "Never", "-1s", "1.5h"}},
      {patterns::duration_or_never(), {"Never", "720h"}, {"never", "NeverNever", ""}},
      {patterns::budget_duration(),
       {"8h", "30m", "1h30m", "8h0s", "1h30m0s"},
       {"30s", "1m1h", "8h1s", "1d"}},
      {patterns::budget_nodes(), {"0", "5", "0%", "99%", "100%"}, {"101%", "-1", "%", "1.5"}},
      {patterns::quantity(),
       {"1", "1.5", ".5", "5.", "-1", "+1", "100m", "1Gi", "1e3", "1E-3", "2k"},
       {"", "Gi", "1gi", "1 Gi", "1e", "1.2.3", "1mi"}},
      {patterns::cron(),
       {"0 9 * * mon-fri", "@daily", "@hourly or not", "x\t9 * * * *"},
       {"0 9 * *", "@nightly", ""}},
      {patterns::disk_size(),
       {"1Gi", "59000Gi", "64000G", "1Ti", "58Ti", "64T"},
       {"0Gi", "59001Gi", "64001G", "59Ti", "65T", "20", "20Mi", "1.5Gi"}},
      {patterns::condition_reason(), {"Ready", "a_b,c:D1"}, {"", "9a", "a,", "a b"}},
      {patterns::condition_reason_or_empty(), {"", "Ready"}, {"a b"}},
      {patterns::group(), {"karpenter.sh", ""}, {"karpenter.sh/v1"}},
  };
  for (const auto& test_case : cases) {
    for (const std::string& text : test_case.matching) {
      EXPECT_TRUE(test_case.pattern.matches(text))
          << test_case.pattern.regex() << " on \"" << text << '"';
    }
    for (const std::string& text : test_case.other) {
      EXPECT_FALSE(test_case.pattern.matches(text))
          << test_case.pattern.regex() << " on \"" << text << '"';
    }
  }
}

RC_GTEST_PROP(Pattern, CountsRepetitionsExactly, ()) {
  const int least = *rc::gen::inRange(0, 20);
  const int most = *rc::gen::inRange(least, least + 20);
  const int length = *rc::gen::inRange(0, 45);
  const Pattern pattern("^[ab]{" + std::to_string(least) + "," + std::to_string(most) + "}$", "");
  const std::string text = *rc::gen::container<std::string>(static_cast<std::size_t>(length),
                                                            rc::gen::element('a', 'b'));
  RC_ASSERT(pattern.matches(text) == (length >= least && length <= most));
}

}  // namespace
}  // namespace millwright::schema
