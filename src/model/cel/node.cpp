#include "model/cel/node.hpp"

#include "model/cel/syntax/lexer.hpp"

#include <algorithm>

namespace millwright::model::cel {

Node make_literal(std::size_t position, Value value) {
  return {.kind = Node::Kind::Literal, .position = position, .value = std::move(value)};
}

Node make_call(std::size_t position, std::string_view name, Function function) {
  return {
      .kind = Node::Kind::Call, .position = position, .name = std::string(name), .call = function};
}

base::Result<Node> checked(Node node) {
  for (const Node& child : node.children) {
    node.depth = std::max(node.depth, child.depth + 1);
  }
  if (node.depth > kMostDepth) {
    return problem_at(node.position, "nested too deeply");
  }
  return node;
}

base::Result<Node> with_pattern(Node matches) {
  const Node& regex = matches.children[1];
  const auto* const text = regex.value.as<SharedText>();
  if (regex.kind == Node::Kind::Literal && text != nullptr) {
    auto pattern = Pattern::compile(**text);
    if (!pattern) {
      return problem_at(regex.position, pattern.error().message);
    }
    matches.kind = Node::Kind::Matches;
    matches.pattern = *std::move(pattern);
    matches.children.pop_back();
  }
  return matches;
}

}  // namespace millwright::model::cel
