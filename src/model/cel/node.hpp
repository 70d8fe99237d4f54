// The tree of a parsed expression.
#pragma once

#include "model/cel/functions/functions.hpp"
#include "model/cel/functions/pattern.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model::cel {

struct Node {
  enum class Kind : std::uint8_t {
    Literal,
    Variable,
    List,             // its items
    Map,              // key, value, key, value, …
    Element,          // container, key: container.key and container[key]
    OptionalElement,  // container.?key and container[?key]
    Has,              // container, key: has(container.key)
    Call,             // the arguments of a function or operator
    Matches,          // text; the pattern is known
    And,              // two or more
    Or,
    Conditional,  // condition, then, else
    OrValue,      // optional, value: optional.orValue(value)
    OrOptional,   // optional, optional: optional.or(optional)
    // What declares a variable. The first child is outside of its scope.
    All,        // range, condition
    Exists,     // range, condition
    ExistsOne,  // range, condition
    Filter,     // range, condition
    Transform,  // range, result; or range, condition, result: range.map(…)
    Bind,       // value, result
  };
  Kind kind = Kind::Literal;
  std::size_t position = 0;  // the number of a character, from 1
  std::string name;          // for messages
  Value value;               // of Literal
  // Of Variable: how many variables there are around it; `device` is 0.
  std::size_t slot = 0;
  Function call = nullptr;
  std::shared_ptr<const Pattern> pattern;
  std::vector<Node> children;
  std::size_t depth = 1;
};

// Deeper trees are refused: parsing and evaluating are recursive.
inline constexpr std::size_t kMostDepth = 100;

Node make_literal(std::size_t position, Value value);
Node make_call(std::size_t position, std::string_view name, Function function);
// The node with the depth that its children give it, unless that is too large.
base::Result<Node> checked(Node node);
// A call of matches(). A pattern that is written out is compiled now, once.
base::Result<Node> with_pattern(Node matches);

}  // namespace millwright::model::cel
