// Regular expressions as the API server understands them. Go's regexp has RE2's syntax, so one text
// serves both the CRD and the match made here, and the two cannot disagree. Matching takes time
// linear in the text, whatever the input.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace millwright::schema {

// Compiled once, when constructed. Immutable after that; safe to share between threads.
class Pattern {
 public:
  // `accepted` completes the sentence "expected ...". Throws std::invalid_argument when `regex` is
  // none: patterns are part of the program.
  Pattern(std::string_view regex, std::string_view accepted);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Go's MatchString: true when any part of `text` matches, so patterns anchor themselves.
  bool matches(std::string_view text) const;
  const std::string& regex() const { return regex_; }
  const std::string& accepted() const { return accepted_; }

 private:
  std::string regex_;
  std::string accepted_;
  std::unique_ptr<re2::RE2> compiled_;
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
