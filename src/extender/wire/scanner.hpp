// A strict, forward-only reader of JSON text. It returns slices of the text: an extender request
// lists thousands of nodes, and those that are only repeated in the answer need no parsing.
#pragma once

#include "millwright/base/result.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace millwright::extender {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // A string as it stands in the text, quotes included.
  struct Text {
    std::string_view token;
    bool escaped = false;
    std::string_view between_quotes() const { return token.substr(1, token.size() - 2); }
  };

  // Each reads one value and returns false when the text is not JSON there, or not of that type.
  bool text(Text& out);
  bool skip(std::string_view& token);
  bool null();  // false, without moving, when the next value is something else
  // `field` and `item` are called before each value and must read it.
  template <class Field>
  bool object(Field field);
  template <class Item>
  bool array(Item item);
  // Where the next value begins, and the text from there to here.
  std::size_t next() {
    space();
    return at_;
  }
  std::string_view since(std::size_t start) const { return text_.substr(start, at_ - start); }
  // Nothing but white space is left.
  bool end();

  bool fail(std::string_view what);
  base::Error error() const;

 private:
  static constexpr int kMaxDepth = 64;

  void space();
  bool peek(char c);
  bool take(char c);
  bool literal(std::string_view word);
  bool number();
  bool value();
  bool enter();

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string problem_;
};

template <class Field>
bool Scanner::object(Field field) {
  if (!take('{')) {
    return fail("an object is expected");
  }
  if (!enter()) {
    return false;
  }
  bool more = !peek('}');
  while (more) {
    Text key;
    if (!text(key)) {
      return false;
    }
    if (!take(':')) {
      return fail("':' is expected");
    }
    if (!field(key)) {
      return false;
    }
    more = take(',');
  }
  --depth_;
  return take('}') || fail("',' or '}' is expected");
}

template <class Item>
bool Scanner::array(Item item) {
  if (!take('[')) {
    return fail("an array is expected");
  }
  if (!enter()) {
    return false;
  }
  bool more = !peek(']');
  while (more) {
    if (!item()) {
      return false;
    }
    more = take(',');
  }
  --depth_;
  return take(']') || fail("',' or ']' is expected");
}

}  // namespace millwright::extender
