// The text form of label selectors, as in the labelSelector query parameter.
#include "millwright/model/selector.hpp"

#include <algorithm>
#include <tuple>

namespace millwright::model {
namespace {

// One pass over the text; the first problem is kept and ends the parse.
class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : text_(text) {}

  base::Result<LabelSelector> parse() {
    skip_spaces();
    if (at_end()) {
      return LabelSelector{};
    }
    do {
      requirement();
      skip_spaces();
    } while (problem_.empty() && take(","));
    if (problem_.empty() && !at_end()) {
      problem_ = "expected \",\"";
    }
    if (!problem_.empty()) {
      return base::fail(base::ErrorKind::Invalid,
                        "label selector \"" + std::string(text_) + "\": at character " +
                            std::to_string(position_ + 1) + ": " + problem_ +
                            "; write for example a=b,c!=d,e in (f,g),h,!i");
    }
    return selector_;
  }

 private:
  void requirement() {
    skip_spaces();
    const bool negated = take("!");
    skip_spaces();
    const std::string key = word();
    check(qualified_name_problem(key));
    skip_spaces();
    if (negated || at_end() || peek() == ',') {
      add(key, negated ? Operator::DoesNotExist : Operator::Exists, {});
    } else if (take("!=")) {
      add(key, Operator::NotIn, {value()});
    } else if (take("==") || take("=")) {
      equals(key, value());
    } else if (take(">")) {
      add(key, Operator::Gt, {integer()});
    } else if (take("<")) {
      add(key, Operator::Lt, {integer()});
    } else {
      set_based(key);
    }
  }

  void set_based(const std::string& key) {
    const std::string op = word();
    if (op != "in" && op != "notin") {
      check("expected =, !=, in, notin, > or <");
      return;
    }
    skip_spaces();
    if (!take("(")) {
      check("expected \"(\"");
      return;
    }
    std::vector<std::string> values;
    do {
      values.push_back(value());
      skip_spaces();
    } while (take(","));
    if (!take(")")) {
      check("expected \")\"");
      return;
    }
    // The order of the values means nothing; Kubernetes keeps them as a set.
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    add(key, op == "in" ? Operator::In : Operator::NotIn, std::move(values));
  }

  std::string value() {
    skip_spaces();
    std::string text = word();
    check(label_value_problem(text));
    return text;
  }

  std::string integer() {
    std::string text = value();
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
      check("expected an integer");
    }
    return text;
  }

  void equals(const std::string& key, std::string value) {
    const auto [entry, inserted] = selector_.match_labels.emplace(key, value);
    if (!inserted && entry->second != value) {
      add(key, Operator::In, {std::move(value)});
    }
  }

  void add(const std::string& key, Operator op, std::vector<std::string> values) {
    selector_.match_expressions.push_back({.key = key, .op = op, .values = std::move(values)});
  }

  std::string word() {
    const std::size_t start = position_;
    while (!at_end() && std::string_view(" \t\r\n,()=!<>").find(peek()) == std::string_view::npos) {
      ++position_;
    }
    return std::string(text_.substr(start, position_ - start));
  }

  void check(std::string problem) {
    if (problem_.empty()) {
      problem_ = std::move(problem);
    }
  }
  void skip_spaces() {
    while (!at_end() && std::string_view(" \t\r\n").find(peek()) != std::string_view::npos) {
      ++position_;
    }
  }
  bool take(std::string_view token) {
    if (!text_.substr(position_).starts_with(token)) {
      return false;
    }
    position_ += token.size();
    return true;
  }
  bool at_end() const { return position_ == text_.size(); }
  char peek() const { return text_[position_]; }

  std::string_view text_;
  std::size_t position_ = 0;
  std::string problem_;
  LabelSelector selector_;
};

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) {
    text.append(text.empty() && &value == &values.front() ? "" : ",").append(value);
  }
  return text;
}

std::string requirement_text(const SelectorRequirement& requirement) {
  const std::string& key = requirement.key;
  switch (requirement.op) {
    case Operator::In:
      return key + " in (" + joined(requirement.values) + ")";
    case Operator::NotIn:
      return key + " notin (" + joined(requirement.values) + ")";
    case Operator::Exists:
      return key;
    case Operator::DoesNotExist:
      return "!" + key;
    case Operator::Gt:
      return key + ">" + joined(requirement.values);
    case Operator::Lt:
      return key + "<" + joined(requirement.values);
    case Operator::Gte:
      return key + ">=" + joined(requirement.values);
    case Operator::Lte:
      return key + "<=" + joined(requirement.values);
  }
  return key;
}

}  // namespace

base::Result<LabelSelector> parse_label_selector(std::string_view text) {
  return SelectorParser(text).parse();
}

std::string to_string(const LabelSelector& selector) {
  std::vector<std::pair<std::string, std::string>> parts;
  for (const auto& [key, value] : selector.match_labels) {
    parts.emplace_back(key, key + "=" + value);
  }
  for (const SelectorRequirement& requirement : selector.match_expressions) {
    parts.emplace_back(requirement.key, requirement_text(requirement));
  }
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const auto& [key, part] : parts) {
    text.append(text.empty() ? "" : ",").append(part);
  }
  return text;
}

}  // namespace millwright::model
