// Regular expressions as the API server understands them (Go's regexp, RE2 syntax), for the small
// subset that CRD patterns use. One text serves both the CRD and the match made here, so the two
// cannot disagree. Matching is a breadth-first walk of an automaton: linear in the text, no
// backtracking, whatever the input.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::schema {

// Immutable after construction; safe to share between threads.
class Pattern {
 public:
  // `regex` knows literals, escapes (\d \s \. ...), classes, groups, alternation, * + ? {m,n} and
  // the two anchors. `accepted` completes the sentence "expected ...".
  // Throws std::invalid_argument on anything else: patterns are part of the program.
  Pattern(std::string_view regex, std::string_view accepted);

  // Go's MatchString: true when any part of `text` matches, so patterns anchor themselves.
  bool matches(std::string_view text) const;
  const std::string& regex() const { return regex_; }
  const std::string& accepted() const { return accepted_; }

 private:
  friend class PatternCompiler;
  enum class Step : std::uint8_t { Byte, Split, Begin, End, Done };
  struct State {
    Step step = Step::Done;
    std::bitset<256> bytes;
    int next = -1;
    int other = -1;  // only of Split
  };
  struct Walk;

  std::string regex_;
  std::string accepted_;
  std::vector<State> states_;
  int start_ = 0;
};

namespace patterns {
const Pattern& qualified_name();
const Pattern& label_value();
const Pattern& duration();  // s, m, h
const Pattern& duration_or_never();
const Pattern& budget_duration();  // m, h
const Pattern& budget_nodes();
const Pattern& cron();
const Pattern& quantity();
const Pattern& condition_reason();
const Pattern& condition_reason_or_empty();
const Pattern& disk_size();         // "20Gi", as EC2 volumeSize accepts it
const Pattern& group();             // an API group: no "/"
const Pattern& price();             // "0.12"
const Pattern& price_adjustment();  // "+0.1", "-10%"
}  // namespace patterns

}  // namespace millwright::schema
