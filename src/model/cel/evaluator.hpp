// Evaluates the tree of an expression, as cel-spec has it: an error is a value that goes up the
// tree, and && || all() and exists() come to a result in spite of it where the other operands
// decide.
#pragma once

#include "model/cel/node.hpp"

#include <vector>

namespace millwright::model::cel {

// For one evaluation.
class Evaluator {
 public:
  explicit Evaluator(Value device) { variables_.emplace_back(std::move(device)); }

  // Invalid where there is no result; the error begins with the place ("at character 7: ").
  base::Result<Value> evaluate(const Node& node);
  // Nothing can be said of the expression then, whatever evaluate() gave.
  bool is_too_costly() const { return budget_.is_spent(); }

 private:
  base::Result<std::vector<Value>> values_of(const std::vector<Node>& nodes);
  base::Result<Value> call(const Node& node);
  base::Result<Value> map(const Node& node);
  base::Result<Value> element(const Node& node);
  base::Result<Value> has(const Node& node);
  base::Result<Value> matches(const Node& node);
  base::Result<Value> junction(const Node& node);
  base::Result<Value> conditional(const Node& node);
  base::Result<Value> alternative(const Node& node);
  base::Result<Value> bind(const Node& node);
  base::Result<Value> quantifier(const Node& node);
  base::Result<Value> exists_one(const Node& node);
  base::Result<Value> filter(const Node& node);
  base::Result<Value> transform(const Node& node);

  // What a comprehension goes through: the items of a list, or the keys of a map.
  base::Result<SharedList> range(const Node& node);
  base::Result<Value> evaluate_with(const Value& item, const Node& node);
  base::Result<bool> is_true_of(const Value& item, const Node& condition);

  Budget budget_;
  // By slot. What cel.bind() binds may be an error, which counts only where it is used.
  std::vector<base::Result<Value>> variables_;
};

}  // namespace millwright::model::cel
