#include "schema/engine/pattern.hpp"

#include <re2/re2.h>

#include <stdexcept>

namespace millwright::schema {

Pattern::Pattern(std::string_view regex, std::string_view accepted)
    : regex_(regex),
      accepted_(accepted),
      compiled_(std::make_unique<re2::RE2>(regex_, RE2::Quiet)) {
  if (!compiled_->ok()) {
    throw std::invalid_argument("pattern " + regex_ + ": " + compiled_->error());
  }
}

Pattern::~Pattern() = default;

bool Pattern::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace millwright::schema
