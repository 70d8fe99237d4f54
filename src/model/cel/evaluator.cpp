#include "model/cel/evaluator.hpp"

#include "model/cel/functions/operators.hpp"
#include "model/cel/syntax/lexer.hpp"

#include <optional>

namespace millwright::model::cel {
namespace {

// An error of a function, with where and by whom.
tl::unexpected<base::Error> located(const Node& node, const base::Error& error) {
  return problem_at(node.position, node.name + (node.name.empty() ? "" : ": ") + error.message);
}

base::Result<bool> truth(const Node& node, const base::Result<Value>& result) {
  if (!result) {
    return tl::unexpected(result.error());
  }
  const auto* const flag = result->as<bool>();
  if (flag == nullptr) {
    return problem_at(node.position,
                      "expected true or false, found " + std::string(type_name(*result)));
  }
  return *flag;
}

// What && and || come to: one operand that decides is enough, whatever the others are. Otherwise
// the first error is the result.
class Verdict {
 public:
  explicit Verdict(bool decisive) : decisive_(decisive) {}

  // True when the operand decides.
  bool add(base::Result<bool> operand) {
    if (operand && *operand == decisive_) {
      decided_ = true;
    } else if (!operand && !problem_) {
      problem_ = std::move(operand).error();
    }
    return decided_;
  }
  base::Result<Value> result() const {
    if (!decided_ && problem_) {
      return tl::unexpected(*problem_);
    }
    return Value{decided_ == decisive_};
  }

 private:
  bool decisive_;
  bool decided_ = false;
  std::optional<base::Error> problem_;
};

// What arguments cost by their length alone.
std::size_t length_cost(Arguments arguments) {
  std::size_t bytes = 0;
  for (const Value& argument : arguments) {
    const auto* const text = argument.as<SharedText>();
    bytes += text == nullptr ? 0 : (*text)->size();
  }
  return bytes / sizeof(std::uint64_t);
}

bool may_be_key(const Value& value) {
  return value.as<SharedText>() != nullptr || value.as<bool>() != nullptr ||
         value.as<std::int64_t>() != nullptr || value.as<std::uint64_t>() != nullptr;
}

}  // namespace

base::Result<Value> Evaluator::evaluate(const Node& node) {
  if (!budget_.spend(1)) {
    return too_costly();
  }
  switch (node.kind) {
    case Node::Kind::Literal:
      return node.value;
    case Node::Kind::Variable:
      return variables_[node.slot];
    case Node::Kind::List:
      return values_of(node.children).map(make_list);
    case Node::Kind::Map:
      return map(node);
    case Node::Kind::Element:
    case Node::Kind::OptionalElement:
      return element(node);
    case Node::Kind::Has:
      return has(node);
    case Node::Kind::Call:
      return call(node);
    case Node::Kind::Matches:
      return matches(node);
    case Node::Kind::And:
    case Node::Kind::Or:
      return junction(node);
    case Node::Kind::Conditional:
      return conditional(node);
    case Node::Kind::OrValue:
    case Node::Kind::OrOptional:
      return alternative(node);
    case Node::Kind::All:
    case Node::Kind::Exists:
      return quantifier(node);
    case Node::Kind::ExistsOne:
      return exists_one(node);
    case Node::Kind::Filter:
      return filter(node);
    case Node::Kind::Transform:
      return transform(node);
    case Node::Kind::Bind:
      return bind(node);
  }
  return failed("unknown expression");
}

base::Result<std::vector<Value>> Evaluator::values_of(const std::vector<Node>& nodes) {
  std::vector<Value> values;
  values.reserve(nodes.size());
  for (const Node& node : nodes) {
    MW_TRY(value, evaluate(node));
    values.push_back(std::move(value));
  }
  return values;
}

base::Result<Value> Evaluator::call(const Node& node) {
  MW_TRY(arguments, values_of(node.children));
  if (!budget_.spend(length_cost(arguments))) {
    return too_costly();
  }
  auto result = node.call(arguments, budget_);
  return result ? std::move(result) : located(node, result.error());
}

base::Result<Value> Evaluator::map(const Node& node) {
  MW_TRY(values, values_of(node.children));
  Map made;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    Value& key = values[i];
    if (!may_be_key(key)) {
      return problem_at(node.children[i].position,
                        "a map has no keys of type " + std::string(type_name(key)));
    }
    MW_TRY(known, find(made, key, budget_));
    if (known != nullptr) {
      return problem_at(node.children[i].position,
                        "the map has the key " + describe(key) + " already");
    }
    made.entries.emplace_back(std::move(key), std::move(values[i + 1]));
  }
  return make_map(std::move(made));
}

// An element of an optional value is optional itself.
base::Result<Value> Evaluator::element(const Node& node) {
  MW_TRY(container, evaluate(node.children[0]));
  MW_TRY(key, evaluate(node.children[1]));
  const auto* const optional = container.as<Optional>();
  if (optional != nullptr && optional->value == nullptr) {
    return container;
  }
  const auto found = cel::element(optional == nullptr ? container : *optional->value, key, budget_);
  if (!found) {
    return located(node, found.error());
  }
  const std::optional<Value>& value = *found;
  if (optional != nullptr || node.kind == Node::Kind::OptionalElement) {
    return value ? make_optional(*value) : Value{Optional{}};
  }
  if (!value) {
    return problem_at(node.position, "no such key: " + describe(key));
  }
  return *value;
}

base::Result<Value> Evaluator::has(const Node& node) {
  MW_TRY(container, evaluate(node.children[0]));
  const auto* const optional = container.as<Optional>();
  if (optional != nullptr && optional->value == nullptr) {
    return Value{false};
  }
  const auto found = cel::element(optional == nullptr ? container : *optional->value,
                                  node.children[1].value, budget_);
  if (!found) {
    return located(node, found.error());
  }
  return Value{found->has_value()};
}

base::Result<Value> Evaluator::matches(const Node& node) {
  MW_TRY(value, evaluate(node.children[0]));
  const auto* const text = value.as<SharedText>();
  if (text == nullptr) {
    return problem_at(node.position,
                      "matches: expected a string, found " + std::string(type_name(value)));
  }
  MW_TRY(found, node.pattern->matches(**text, budget_));
  return Value{found};
}

base::Result<Value> Evaluator::junction(const Node& node) {
  Verdict verdict(node.kind == Node::Kind::Or);
  for (const Node& operand : node.children) {
    if (verdict.add(truth(operand, evaluate(operand)))) {
      break;
    }
  }
  return verdict.result();
}

base::Result<Value> Evaluator::conditional(const Node& node) {
  MW_TRY(holds, truth(node.children[0], evaluate(node.children[0])));
  return evaluate(node.children[holds ? 1 : 2]);
}

base::Result<Value> Evaluator::alternative(const Node& node) {
  MW_TRY(value, evaluate(node.children[0]));
  const auto* const optional = value.as<Optional>();
  if (optional == nullptr) {
    return problem_at(node.position, node.name + ": expected an optional value, found " +
                                         std::string(type_name(value)));
  }
  if (optional->value == nullptr) {
    return evaluate(node.children[1]);
  }
  return node.kind == Node::Kind::OrValue ? *optional->value : value;
}

base::Result<Value> Evaluator::bind(const Node& node) {
  variables_.push_back(evaluate(node.children[0]));
  auto result = evaluate(node.children[1]);
  variables_.pop_back();
  return result;
}

base::Result<SharedList> Evaluator::range(const Node& node) {
  MW_TRY(value, evaluate(node.children[0]));
  if (const auto* const list = value.as<SharedList>()) {
    return *list;
  }
  const auto* const map = value.as<SharedMap>();
  if (map == nullptr) {
    return problem_at(node.position, node.name + ": expected a list or map, found " +
                                         std::string(type_name(value)));
  }
  if (!budget_.spend((*map)->entries.size())) {
    return too_costly();
  }
  std::vector<Value> keys;
  for (const auto& entry : (*map)->entries) {
    keys.push_back(entry.first);
  }
  return std::make_shared<const std::vector<Value>>(std::move(keys));
}

base::Result<Value> Evaluator::evaluate_with(const Value& item, const Node& node) {
  variables_.emplace_back(item);
  auto result = evaluate(node);
  variables_.pop_back();
  return result;
}

base::Result<bool> Evaluator::is_true_of(const Value& item, const Node& condition) {
  return truth(condition, evaluate_with(item, condition));
}

base::Result<Value> Evaluator::quantifier(const Node& node) {
  MW_TRY(items, range(node));
  Verdict verdict(node.kind == Node::Kind::Exists);
  for (const Value& item : *items) {
    if (verdict.add(is_true_of(item, node.children[1])) || budget_.is_spent()) {
      break;
    }
  }
  return verdict.result();
}

base::Result<Value> Evaluator::exists_one(const Node& node) {
  MW_TRY(items, range(node));
  std::size_t count = 0;
  for (const Value& item : *items) {
    MW_TRY(holds, is_true_of(item, node.children[1]));
    count += holds ? 1 : 0;
  }
  return Value{count == 1};
}

base::Result<Value> Evaluator::filter(const Node& node) {
  MW_TRY(items, range(node));
  std::vector<Value> kept;
  for (const Value& item : *items) {
    MW_TRY(holds, is_true_of(item, node.children[1]));
    if (holds) {
      kept.push_back(item);
    }
  }
  return make_list(std::move(kept));
}

base::Result<Value> Evaluator::transform(const Node& node) {
  MW_TRY(items, range(node));
  const bool chooses = node.children.size() > 2;
  std::vector<Value> results;
  for (const Value& item : *items) {
    if (chooses) {
      MW_TRY(holds, is_true_of(item, node.children[1]));
      if (!holds) {
        continue;
      }
    }
    MW_TRY(result, evaluate_with(item, node.children.back()));
    results.push_back(std::move(result));
  }
  return make_list(std::move(results));
}

}  // namespace millwright::model::cel
