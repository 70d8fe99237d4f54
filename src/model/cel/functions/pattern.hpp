// A regular expression of RE2, whose time is linear in the text. Go's regexp has the same syntax.
#pragma once

#include "millwright/base/result.hpp"
#include "model/cel/budget.hpp"

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace millwright::model::cel {

// Immutable; safe to share between threads.
class Pattern {
 public:
  static base::Result<std::shared_ptr<const Pattern>> compile(std::string_view regex);
  explicit Pattern(std::unique_ptr<const re2::RE2> compiled);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Whether any part of the text matches.
  base::Result<bool> matches(std::string_view text, Budget& budget) const;

 private:
  std::unique_ptr<const re2::RE2> compiled_;
};

}  // namespace millwright::model::cel
