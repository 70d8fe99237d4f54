// Tokens, one after the other, with a look ahead.
#pragma once

#include "model/cel/syntax/lexer.hpp"

#include <algorithm>
#include <utility>

namespace millwright::model::cel {

class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  // The end again and again, once that is reached.
  const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  bool at_symbol(std::string_view symbol, std::size_t ahead = 0) const {
    return peek(ahead).kind == Token::Kind::Symbol && peek(ahead).text == symbol;
  }
  // The sign of a number belongs to it: the smallest int has no positive counterpart.
  bool at_sign_of_number() const {
    return at_symbol("-") &&
           (peek(1).kind == Token::Kind::Integer || peek(1).kind == Token::Kind::Double);
  }

  void skip(std::size_t count) { next_ = std::min(next_ + count, tokens_.size() - 1); }
  bool take(std::string_view symbol) {
    const bool found = at_symbol(symbol);
    skip(found ? 1 : 0);
    return found;
  }
  const Token& take() {
    const Token& token = peek();
    skip(1);
    return token;
  }
  const Token& previous() const { return tokens_[next_ == 0 ? 0 : next_ - 1]; }

 private:
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
};

// That the text goes on otherwise than with this token.
inline tl::unexpected<base::Error> unexpected(const Token& token) {
  constexpr std::size_t kShown = 64;
  return token.kind == Token::Kind::End
             ? problem_at(token.position, "the expression ends too early")
             : problem_at(token.position,
                          "unexpected " + std::string(token.text.substr(0, kShown)));
}

}  // namespace millwright::model::cel
