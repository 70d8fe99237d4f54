#include "model/cel/functions/pattern.hpp"

#include <re2/re2.h>

namespace millwright::model::cel {

Pattern::Pattern(std::unique_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

Pattern::~Pattern() = default;

base::Result<std::shared_ptr<const Pattern>> Pattern::compile(std::string_view regex) {
  RE2::Options options(RE2::Quiet);
  // A short pattern can stand for a large program, by repetitions of repetitions.
  constexpr std::int64_t kMostMemory = std::int64_t{1} << 20;
  options.set_max_mem(kMostMemory);
  auto compiled =
      std::make_unique<const re2::RE2>(re2::StringPiece(regex.data(), regex.size()), options);
  if (!compiled->ok()) {
    return base::fail(base::ErrorKind::Invalid,
                      "not a regular expression of RE2: " + compiled->error());
  }
  return std::make_shared<const Pattern>(std::move(compiled));
}

base::Result<bool> Pattern::matches(std::string_view text, Budget& budget) const {
  // Where memory does not suffice RE2 looks at all of a program for each byte.
  constexpr std::size_t kStatesAtOnce = 64;
  const auto program = static_cast<std::size_t>(compiled_->ProgramSize());
  if (!budget.spend(text.size() * (1 + program / kStatesAtOnce))) {
    return too_costly();
  }
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace millwright::model::cel
