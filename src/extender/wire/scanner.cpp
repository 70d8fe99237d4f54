#include "extender/wire/scanner.hpp"

namespace millwright::extender {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

bool Scanner::fail(std::string_view what) {
  if (problem_.empty()) {
    problem_ = std::string(what).append(" at byte ").append(std::to_string(at_));
  }
  return false;
}

base::Error Scanner::error() const {
  return {base::ErrorKind::Invalid, problem_};
}

void Scanner::space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

bool Scanner::peek(char c) {
  space();
  return at_ < text_.size() && text_[at_] == c;
}

bool Scanner::take(char c) {
  if (!peek(c)) {
    return false;
  }
  ++at_;
  return true;
}

bool Scanner::enter() {
  return ++depth_ <= kMaxDepth || fail("nested too deep");
}

bool Scanner::end() {
  space();
  return at_ == text_.size() || fail("nothing more is expected");
}

bool Scanner::text(Text& out) {
  if (!peek('"')) {
    return fail("a text is expected");
  }
  const std::size_t start = at_++;
  out.escaped = false;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      out.token = text_.substr(start, at_ - start);
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      return fail("a control character in a text");
    }
    if (c != '\\') {
      ++at_;
      continue;
    }
    out.escaped = true;
    const char escape = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (escape == 'u') {
      for (std::size_t i = 2; i < 6; ++i) {
        if (at_ + i >= text_.size() || !is_hex(text_[at_ + i])) {
          return fail("an incomplete \\u escape");
        }
      }
      at_ += 6;
    } else if (escape != '\0' && std::string_view("\"\\/bfnrt").find(escape) != std::string::npos) {
      at_ += 2;
    } else {
      return fail("an unknown escape");
    }
  }
  return fail("a text that does not end");
}

bool Scanner::literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) {
    return fail("a value is expected");
  }
  at_ += word.size();
  return true;
}

bool Scanner::null() {
  return peek('n') && literal("null");
}

bool Scanner::number() {
  const auto digits = [this] {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      ++at_;
    }
    return at_ > start;
  };
  const auto next_is = [this](char c) { return at_ < text_.size() && text_[at_] == c; };
  at_ += next_is('-') ? 1 : 0;
  if (next_is('0')) {
    ++at_;
  } else if (!digits()) {
    return fail("a value is expected");
  }
  if (next_is('.')) {
    ++at_;
    if (!digits()) {
      return fail("digits are expected");
    }
  }
  if (next_is('e') || next_is('E')) {
    ++at_;
    at_ += next_is('+') || next_is('-') ? 1 : 0;
    if (!digits()) {
      return fail("digits are expected");
    }
  }
  return true;
}

bool Scanner::value() {
  space();
  switch (at_ < text_.size() ? text_[at_] : '\0') {
    case '{':
      return object([this](const Text&) { return value(); });
    case '[':
      return array([this] { return value(); });
    case '"': {
      Text ignored;
      return text(ignored);
    }
    case 't':
      return literal("true");
    case 'f':
      return literal("false");
    case 'n':
      return literal("null");
    default:
      return number();
  }
}

bool Scanner::skip(std::string_view& token) {
  space();
  const std::size_t start = at_;
  if (!value()) {
    return false;
  }
  token = text_.substr(start, at_ - start);
  return true;
}

}  // namespace millwright::extender
