#include "model/cel/syntax/lexer.hpp"

#include "model/cel/syntax/text_literal.hpp"
#include "model/cel/utf8.hpp"

#include <algorithm>
#include <array>

namespace millwright::model::cel {
namespace {

constexpr std::array<std::string_view, 17> kReservedWords{
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
// The longer ones first.
constexpr std::array<std::string_view, 24> kSymbols{"||", "&&", "==", "!=", "<=", ">=", "(", ")",
                                                    "[",  "]",  "{",  "}",  ".",  ",",  ":", "?",
                                                    "!",  "<",  ">",  "+",  "-",  "*",  "/", "%"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool begins_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  base::Result<std::vector<Token>> tokens() {
    std::vector<Token> found;
    do {
      skip_blanks();
      MW_TRY(token, next());
      found.push_back(std::move(token));
    } while (found.back().kind != Token::Kind::End);
    return found;
  }

 private:
  char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  std::string_view rest() const { return text_.substr(offset_); }

  void advance(std::size_t bytes) {
    position_ += code_points(text_.substr(offset_, bytes));
    offset_ += bytes;
  }

  void skip_blanks() {
    for (;;) {
      const std::size_t blanks = std::min(rest().find_first_not_of(" \t\r\n\f"), rest().size());
      advance(blanks);
      if (!rest().starts_with("//")) {
        return;
      }
      advance(std::min(rest().find_first_of("\r\n"), rest().size()));
    }
  }

  Token take(Token::Kind kind, std::size_t bytes) {
    Token token{kind, text_.substr(offset_, bytes), {}, position_};
    advance(bytes);
    return token;
  }

  base::Result<Token> next() {
    if (rest().empty()) {
      return take(Token::Kind::End, 0);
    }
    if (begins_text(rest())) {
      return text();
    }
    const char c = at(offset_);
    if ((c == 'b' || c == 'B') && begins_text(rest().substr(1))) {
      return problem_at(position_, "bytes are not supported");
    }
    if (begins_identifier(c)) {
      return word();
    }
    if (is_digit(c) || (c == '.' && is_digit(at(offset_ + 1)))) {
      return number();
    }
    for (const std::string_view symbol : kSymbols) {
      if (rest().starts_with(symbol)) {
        return take(Token::Kind::Symbol, symbol.size());
      }
    }
    return problem_at(position_, "unexpected character");
  }

  base::Result<Token> text() {
    auto literal = read_text_literal(rest());
    if (!literal) {
      return problem_at(position_, literal.error().message);
    }
    Token token = take(Token::Kind::Text, literal->length);
    token.content = std::move(literal->content);
    return token;
  }

  base::Result<Token> word() {
    std::size_t end = offset_;
    while (begins_identifier(at(end)) || is_digit(at(end))) {
      ++end;
    }
    const std::string_view word = text_.substr(offset_, end - offset_);
    if (word == "in") {
      return take(Token::Kind::Symbol, word.size());
    }
    return take(Token::Kind::Identifier, word.size());
  }

  Token number() {
    std::size_t end = offset_;
    const auto skip = [&](auto belongs) {
      while (belongs(at(end))) {
        ++end;
      }
    };
    Token::Kind kind = Token::Kind::Integer;
    if (at(end) == '0' && at(end + 1) == 'x' && is_hex_digit(at(end + 2))) {
      end += 2;
      skip(is_hex_digit);
    } else {
      skip(is_digit);
      if (at(end) == '.' && is_digit(at(end + 1))) {
        kind = Token::Kind::Double;
        ++end;
        skip(is_digit);
      }
      const std::size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
      if ((at(end) == 'e' || at(end) == 'E') && is_digit(at(end + 1 + sign))) {
        kind = Token::Kind::Double;
        end += 1 + sign;
        skip(is_digit);
      }
    }
    if (kind == Token::Kind::Integer && (at(end) == 'u' || at(end) == 'U')) {
      kind = Token::Kind::Unsigned;
      ++end;
    }
    return take(kind, end - offset_);
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  std::size_t position_ = 1;
};

}  // namespace

base::Result<std::vector<Token>> tokenize(std::string_view text) {
  return Lexer(text).tokens();
}

bool is_reserved(std::string_view word) {
  return std::find(kReservedWords.begin(), kReservedWords.end(), word) != kReservedWords.end();
}

tl::unexpected<base::Error> problem_at(std::size_t position, std::string_view problem) {
  return base::fail(base::ErrorKind::Invalid,
                    "at character " + std::to_string(position) + ": " + std::string(problem));
}

}  // namespace millwright::model::cel
