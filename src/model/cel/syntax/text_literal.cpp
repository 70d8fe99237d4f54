#include "model/cel/syntax/text_literal.hpp"

#include "model/cel/utf8.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace millwright::model::cel {
namespace {

tl::unexpected<base::Error> wrong_text(std::string problem) {
  return base::fail(base::ErrorKind::Invalid, std::move(problem));
}

struct SimpleEscape {
  char letter;
  char meaning;
};
constexpr std::array<SimpleEscape, 12> kSimpleEscapes{{{'\\', '\\'},
                                                       {'?', '?'},
                                                       {'"', '"'},
                                                       {'\'', '\''},
                                                       {'`', '`'},
                                                       {'a', '\a'},
                                                       {'b', '\b'},
                                                       {'f', '\f'},
                                                       {'n', '\n'},
                                                       {'r', '\r'},
                                                       {'t', '\t'},
                                                       {'v', '\v'}}};

// A code point by its number, as the letter after the backslash says.
struct NumberedEscape {
  std::size_t skipped = 0;  // letters before the digits
  std::size_t digits = 0;
  int base = 0;
};
std::optional<NumberedEscape> numbered_escape(char letter) {
  switch (letter) {
    case 'x':
    case 'X':
      return NumberedEscape{1, 2, 16};
    case 'u':
      return NumberedEscape{1, 4, 16};
    case 'U':
      return NumberedEscape{1, 8, 16};
    case '0':
    case '1':
    case '2':
    case '3':
      return NumberedEscape{0, 3, 8};
    default:
      return std::nullopt;
  }
}

// Appends what the text after a backslash stands for; gives how much of it that was, or nothing
// where it is no escape.
std::optional<std::size_t> append_escaped(std::string_view rest, std::string& out) {
  if (rest.empty()) {
    return std::nullopt;
  }
  for (const SimpleEscape& escape : kSimpleEscapes) {
    if (escape.letter == rest.front()) {
      out += escape.meaning;
      return 1;
    }
  }
  const auto escape = numbered_escape(rest.front());
  if (!escape) {
    return std::nullopt;
  }
  const std::string_view digits = rest.substr(escape->skipped, escape->digits);
  std::uint32_t code_point = 0;
  const auto read =
      std::from_chars(digits.data(), digits.data() + digits.size(), code_point, escape->base);
  if (digits.size() != escape->digits || read.ec != std::errc() ||
      read.ptr != digits.data() + digits.size() || !append_code_point(out, code_point)) {
    return std::nullopt;
  }
  return escape->skipped + escape->digits;
}

}  // namespace

bool begins_text(std::string_view source) {
  if (source.starts_with('r') || source.starts_with('R')) {
    source.remove_prefix(1);
  }
  return source.starts_with('"') || source.starts_with('\'');
}

base::Result<TextLiteral> read_text_literal(std::string_view source) {
  TextLiteral literal;
  const bool raw = source.starts_with('r') || source.starts_with('R');
  std::size_t at = raw ? 1 : 0;
  const char quote = source[at];
  const std::string three(3, quote);
  const bool is_long = source.substr(at).starts_with(three);
  const std::string_view end = is_long ? std::string_view(three) : source.substr(at, 1);
  at += end.size();
  while (at < source.size()) {
    if (source.substr(at).starts_with(end)) {
      literal.length = at + end.size();
      return literal;
    }
    const char c = source[at];
    if (!is_long && (c == '\n' || c == '\r')) {
      break;
    }
    ++at;
    if (c != '\\' || raw) {
      literal.content += c;
      continue;
    }
    const auto length = append_escaped(source.substr(at), literal.content);
    if (!length) {
      return wrong_text("unknown escape after a backslash");
    }
    at += *length;
  }
  return wrong_text("text without its closing quote");
}

}  // namespace millwright::model::cel
