#include "model/cel/syntax/parser.hpp"

#include "model/cel/functions/operators.hpp"
#include "model/cel/syntax/number_literal.hpp"
#include "model/cel/syntax/token_stream.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>

namespace millwright::model::cel {
namespace {

struct Macro {
  std::string_view name;
  Node::Kind kind;
  std::size_t most;  // expressions after the variable
};
constexpr std::array kMacros{
    Macro{"all", Node::Kind::All, 1},
    Macro{"exists", Node::Kind::Exists, 1},
    Macro{"exists_one", Node::Kind::ExistsOne, 1},
    Macro{"filter", Node::Kind::Filter, 1},
    Macro{"map", Node::Kind::Transform, 2},
};

constexpr std::array<std::string_view, 4> kDeviceFields{"driver", "attributes", "capacity",
                                                        "allowMultipleAllocations"};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : stream_(std::move(tokens)) {}

  base::Result<Node> parse() {
    MW_TRY(node, expression());
    if (stream_.peek().kind != Token::Kind::End) {
      return unexpected(stream_.peek());
    }
    return node;
  }

 private:
  using Rule = base::Result<Node> (Parser::*)();

  base::Result<Node> expression() {
    if (++level_ > kMostDepth) {
      return problem_at(stream_.peek().position, "nested too deeply");
    }
    MW_TRY(node, any_of());
    const std::size_t position = stream_.peek().position;
    if (stream_.take("?")) {
      Node conditional{.kind = Node::Kind::Conditional, .position = position, .name = "?:"};
      MW_TRY(then, any_of());
      if (!stream_.take(":")) {
        return unexpected(stream_.peek());
      }
      MW_TRY(otherwise, expression());
      conditional.children = {std::move(node), std::move(then), std::move(otherwise)};
      MW_TRY(whole, checked(std::move(conditional)));
      node = std::move(whole);
    }
    --level_;
    return node;
  }

  base::Result<Node> any_of() { return junction("||", Node::Kind::Or, &Parser::all_of); }
  base::Result<Node> all_of() { return junction("&&", Node::Kind::And, &Parser::relation); }

  // One node for a whole chain, which may be long.
  base::Result<Node> junction(std::string_view symbol, Node::Kind kind, Rule operand) {
    MW_TRY(first, (this->*operand)());
    if (!stream_.at_symbol(symbol)) {
      return first;
    }
    Node node{.kind = kind, .position = stream_.peek().position, .name = std::string(symbol)};
    node.children.push_back(std::move(first));
    while (stream_.take(symbol)) {
      MW_TRY(next, (this->*operand)());
      node.children.push_back(std::move(next));
    }
    return checked(std::move(node));
  }

  base::Result<Node> relation() {
    return chain({"==", "!=", "<=", "<", ">=", ">", "in"}, &Parser::sum);
  }
  base::Result<Node> sum() { return chain({"+", "-"}, &Parser::product); }
  base::Result<Node> product() { return chain({"*", "/", "%"}, &Parser::unary); }

  base::Result<Node> chain(std::initializer_list<std::string_view> symbols, Rule operand) {
    MW_TRY(left, (this->*operand)());
    for (;;) {
      const auto* const symbol = std::find_if(
          symbols.begin(), symbols.end(), [this](auto each) { return stream_.at_symbol(each); });
      if (symbol == symbols.end()) {
        return left;
      }
      Node node = make_call(stream_.peek().position, *symbol, find_operator(*symbol));
      stream_.skip(1);
      MW_TRY(right, (this->*operand)());
      node.children = {std::move(left), std::move(right)};
      MW_TRY(whole, checked(std::move(node)));
      left = std::move(whole);
    }
  }

  base::Result<Node> unary() {
    std::vector<Token> signs;
    while (stream_.at_symbol("!") || (stream_.at_symbol("-") && !stream_.at_sign_of_number())) {
      signs.push_back(stream_.take());
    }
    MW_TRY(node, member());
    std::reverse(signs.begin(), signs.end());
    for (const Token& sign : signs) {
      Node outer = make_call(sign.position, sign.text, sign.text == "!" ? logical_not : negate);
      outer.children.push_back(std::move(node));
      MW_TRY(whole, checked(std::move(outer)));
      node = std::move(whole);
    }
    return node;
  }

  base::Result<Node> member() {
    MW_TRY(node, primary());
    while (stream_.at_symbol(".") || stream_.at_symbol("[")) {
      const bool is_field = stream_.at_symbol(".");
      stream_.skip(1);
      MW_TRY(whole, is_field ? field(std::move(node)) : index(std::move(node)));
      node = std::move(whole);
    }
    return node;
  }

  base::Result<Node> index(Node container) {
    Node node{.kind = stream_.take("?") ? Node::Kind::OptionalElement : Node::Kind::Element,
              .position = stream_.peek().position};
    MW_TRY(key, expression());
    if (!stream_.take("]")) {
      return unexpected(stream_.peek());
    }
    node.children = {std::move(container), std::move(key)};
    return checked(std::move(node));
  }

  // What follows a dot.
  base::Result<Node> field(Node container) {
    const bool optional = stream_.take("?");
    const Token token = stream_.peek();
    if (token.kind != Token::Kind::Identifier) {
      return unexpected(stream_.peek());
    }
    stream_.skip(1);
    if (!optional && stream_.take("(")) {
      return member_call(std::move(container), token);
    }
    const bool of_device = container.kind == Node::Kind::Variable && container.slot == 0;
    if (of_device &&
        std::find(kDeviceFields.begin(), kDeviceFields.end(), token.text) == kDeviceFields.end()) {
      return problem_at(token.position, "device has no field " + std::string(token.text));
    }
    Node node{.kind = optional ? Node::Kind::OptionalElement : Node::Kind::Element,
              .position = token.position};
    node.children = {std::move(container),
                     make_literal(token.position, make_text(std::string(token.text)))};
    return checked(std::move(node));
  }

  base::Result<Node> member_call(Node target, const Token& name) {
    for (const Macro& macro : kMacros) {
      if (macro.name == name.text) {
        return comprehension(std::move(target), name, macro);
      }
    }
    std::vector<Node> arguments;
    arguments.push_back(std::move(target));
    return function_call(name, std::string(name.text), std::move(arguments));
  }

  // A function and its further arguments, up to the bracket that closes them.
  base::Result<Node> function_call(const Token& at, const std::string& name,
                                   std::vector<Node> arguments) {
    const bool member = !arguments.empty();
    // These two do not evaluate what they do not need.
    constexpr FunctionEntry kAlternative{{}, FunctionEntry::Style::Member, 2, 2, nullptr};
    const bool alternative = member && (name == "orValue" || name == "or");
    const FunctionEntry* const function = alternative ? &kAlternative : find_function(name, member);
    if (function == nullptr) {
      return problem_at(at.position, "unknown function " + name);
    }
    Node node = make_call(at.position, name, function->call);
    MW_TRY(rest, expressions(")"));
    node.children = std::move(arguments);
    std::move(rest.begin(), rest.end(), std::back_inserter(node.children));
    if (node.children.size() < function->least || node.children.size() > function->most) {
      return problem_at(at.position, "wrong number of arguments for " + name);
    }
    if (alternative) {
      node.kind = name == "or" ? Node::Kind::OrOptional : Node::Kind::OrValue;
    }
    MW_TRY(whole, checked(std::move(node)));
    return name == "matches" ? with_pattern(std::move(whole)) : whole;
  }

  // Expressions with commas between them, and `end`, which a comma may precede.
  base::Result<std::vector<Node>> expressions(std::string_view end) {
    std::vector<Node> found;
    while (!stream_.take(end)) {
      MW_TRY(node, expression());
      found.push_back(std::move(node));
      if (!stream_.take(",") && !stream_.at_symbol(end)) {
        return unexpected(stream_.peek());
      }
    }
    return found;
  }

  // The variable of a macro, and the comma behind it.
  base::Result<std::string_view> variable_of_macro() {
    const Token& token = stream_.peek();
    if (token.kind != Token::Kind::Identifier || is_reserved(token.text) ||
        !stream_.at_symbol(",", 1)) {
      return problem_at(token.position, "expected the name of a variable, and a comma");
    }
    stream_.skip(2);
    return token.text;
  }

  base::Result<Node> comprehension(Node range, const Token& name, const Macro& macro) {
    Node node{.kind = macro.kind, .position = name.position, .name = std::string(macro.name)};
    node.children.push_back(std::move(range));
    MW_TRY(variable, variable_of_macro());
    variables_.push_back(variable);
    MW_TRY(inner, expressions(")"));
    variables_.pop_back();
    if (inner.empty() || inner.size() > macro.most) {
      return problem_at(name.position, "wrong number of arguments for " + node.name);
    }
    std::move(inner.begin(), inner.end(), std::back_inserter(node.children));
    return checked(std::move(node));
  }

  // cel.bind(variable, value, result)
  base::Result<Node> bind(const Token& name) {
    Node node{.kind = Node::Kind::Bind, .position = name.position, .name = "cel.bind"};
    MW_TRY(variable, variable_of_macro());
    MW_TRY(value, expression());
    if (!stream_.take(",")) {
      return unexpected(stream_.peek());
    }
    variables_.push_back(variable);
    MW_TRY(result, expression());
    variables_.pop_back();
    if (!stream_.take(")")) {
      return unexpected(stream_.peek());
    }
    node.children = {std::move(value), std::move(result)};
    return checked(std::move(node));
  }

  base::Result<Node> has(const Token& name) {
    MW_TRY(field, expression());
    const bool is_field =
        field.kind == Node::Kind::Element && stream_.previous().kind == Token::Kind::Identifier;
    if (!is_field || !stream_.take(")")) {
      return problem_at(name.position, "has() takes the field of something: has(a.b)");
    }
    field.kind = Node::Kind::Has;
    field.name = "has";
    return field;
  }

  base::Result<Node> primary() {
    const bool negative = stream_.at_sign_of_number();
    const std::size_t position = stream_.peek().position;
    stream_.skip(negative ? 1 : 0);
    const Token& token = stream_.take();
    switch (token.kind) {
      case Token::Kind::Integer:
      case Token::Kind::Unsigned:
      case Token::Kind::Double:
        return number_node(position, token, negative);
      case Token::Kind::Text:
        return make_literal(position, make_text(token.content));
      case Token::Kind::Identifier:
        return identifier(token);
      case Token::Kind::Symbol:
        return bracketed(token);
      case Token::Kind::End:
        break;
    }
    return unexpected(token);
  }

  static base::Result<Node> number_node(std::size_t position, const Token& token, bool negative) {
    auto value = number_literal(token, negative);
    if (!value) {
      return problem_at(position, value.error().message);
    }
    return make_literal(position, *std::move(value));
  }

  base::Result<Node> bracketed(const Token& open) {
    if (open.text == "(") {
      MW_TRY(node, expression());
      if (!stream_.take(")")) {
        return unexpected(stream_.peek());
      }
      return node;
    }
    if (open.text == "[") {
      Node node{.kind = Node::Kind::List, .position = open.position};
      MW_TRY(items, expressions("]"));
      node.children = std::move(items);
      return checked(std::move(node));
    }
    if (open.text == "{") {
      return map_literal(open);
    }
    return unexpected(open);
  }

  base::Result<Node> map_literal(const Token& open) {
    Node node{.kind = Node::Kind::Map, .position = open.position};
    while (!stream_.take("}")) {
      MW_TRY(key, expression());
      if (!stream_.take(":")) {
        return unexpected(stream_.peek());
      }
      MW_TRY(value, expression());
      node.children.push_back(std::move(key));
      node.children.push_back(std::move(value));
      if (!stream_.take(",") && !stream_.at_symbol("}")) {
        return unexpected(stream_.peek());
      }
    }
    return checked(std::move(node));
  }

  // A name and what it means: a word of the language, a function, a macro or a variable.
  base::Result<Node> identifier(const Token& token) {
    const std::size_t position = token.position;
    if (token.text == "true" || token.text == "false") {
      return make_literal(position, Value{token.text == "true"});
    }
    if (token.text == "null") {
      return make_literal(position, Value{});
    }
    if (is_reserved(token.text)) {
      return problem_at(position, std::string(token.text) + " is a reserved word");
    }
    if (stream_.take("(")) {
      return token.text == "has" ? has(token) : function_call(token, std::string(token.text), {});
    }
    const auto variable = std::find(variables_.rbegin(), variables_.rend(), token.text);
    if (variable != variables_.rend()) {
      const auto slot = static_cast<std::size_t>(variables_.rend() - variable) - 1;
      return Node{.kind = Node::Kind::Variable,
                  .position = position,
                  .name = std::string(token.text),
                  .slot = slot};
    }
    if ((token.text == "cel" || token.text == "optional") && stream_.at_symbol(".") &&
        stream_.at_symbol("(", 2)) {
      const std::string name = std::string(token.text) + "." + std::string(stream_.peek(1).text);
      stream_.skip(3);
      return name == "cel.bind" ? bind(token) : function_call(token, name, {});
    }
    return problem_at(position, "unknown variable " + std::string(token.text));
  }

  TokenStream stream_;
  std::size_t level_ = 0;
  std::vector<std::string_view> variables_{"device"};
};

}  // namespace

base::Result<Node> parse(std::string_view text) {
  MW_TRY(tokens, tokenize(text));
  return Parser(std::move(tokens)).parse();
}

}  // namespace millwright::model::cel
