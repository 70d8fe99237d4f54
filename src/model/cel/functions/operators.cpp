#include "model/cel/functions/operators.hpp"

#include <array>
#include <cmath>
#include <compare>
#include <limits>

namespace millwright::model::cel {
namespace {

tl::unexpected<base::Error> overflow() {
  return failed("the result does not fit in 64 bits");
}

template <class T>
struct Operands {
  const T* left;
  const T* right;
  explicit operator bool() const { return left != nullptr && right != nullptr; }
};
template <class T>
Operands<T> both(Arguments arguments) {
  return {arguments[0].as<T>(), arguments[1].as<T>()};
}

// An operation on whole numbers, by the compiler's checked one.
template <class T, class Checked>
std::optional<base::Result<Value>> whole(Arguments arguments, Checked checked) {
  const auto operands = both<T>(arguments);
  if (!operands) {
    return std::nullopt;
  }
  T result{};
  if (checked(*operands.left, *operands.right, &result)) {
    return overflow();
  }
  return Value{result};
}

// Arithmetic has no overloads for operands of different types.
template <class Checked, class Floating>
base::Result<Value> arithmetic(Arguments arguments, Checked checked, Floating floating) {
  if (auto result = whole<std::int64_t>(arguments, checked)) {
    return *std::move(result);
  }
  if (auto result = whole<std::uint64_t>(arguments, checked)) {
    return *std::move(result);
  }
  if (const auto operands = both<double>(arguments)) {
    return Value{floating(*operands.left, *operands.right)};
  }
  return unsuitable(arguments);
}

base::Result<Value> add(Arguments arguments, Budget& budget) {
  if (const auto texts = both<SharedText>(arguments)) {
    if (!budget.spend((*texts.left)->size() + (*texts.right)->size())) {
      return too_costly();
    }
    return make_text(**texts.left + **texts.right);
  }
  if (const auto lists = both<SharedList>(arguments)) {
    if (!budget.spend((*lists.left)->size() + (*lists.right)->size())) {
      return too_costly();
    }
    std::vector<Value> items = **lists.left;
    items.insert(items.end(), (*lists.right)->begin(), (*lists.right)->end());
    return make_list(std::move(items));
  }
  return arithmetic(
      arguments, [](auto a, auto b, auto* sum) { return __builtin_add_overflow(a, b, sum); },
      [](double a, double b) { return a + b; });
}

base::Result<Value> subtract(Arguments arguments, Budget&) {
  return arithmetic(
      arguments, [](auto a, auto b, auto* rest) { return __builtin_sub_overflow(a, b, rest); },
      [](double a, double b) { return a - b; });
}

base::Result<Value> multiply(Arguments arguments, Budget&) {
  return arithmetic(
      arguments,
      [](auto a, auto b, auto* product) { return __builtin_mul_overflow(a, b, product); },
      [](double a, double b) { return a * b; });
}

bool divides_by_zero(Arguments arguments) {
  const auto* const number = arguments[1].as<std::int64_t>();
  const auto* const natural = arguments[1].as<std::uint64_t>();
  return (number != nullptr && *number == 0) || (natural != nullptr && *natural == 0);
}

// The one quotient of int that does not fit.
template <class T>
bool quotient_overflows(T dividend, T divisor) {
  if constexpr (std::is_signed_v<T>) {
    return dividend == std::numeric_limits<T>::min() && divisor == -1;
  }
  return false;
}

base::Result<Value> divide(Arguments arguments, Budget&) {
  if (divides_by_zero(arguments)) {
    return failed("division by zero");
  }
  return arithmetic(
      arguments,
      [](auto a, auto b, auto* quotient) {
        if (quotient_overflows(a, b)) {
          return true;
        }
        *quotient = a / b;
        return false;
      },
      [](double a, double b) { return a / b; });
}

base::Result<Value> modulo(Arguments arguments, Budget&) {
  if (divides_by_zero(arguments)) {
    return failed("division by zero");
  }
  const auto remainder = [](auto a, auto b, auto* rest) {
    if (quotient_overflows(a, b)) {
      return true;
    }
    *rest = a % b;
    return false;
  };
  if (auto result = whole<std::int64_t>(arguments, remainder)) {
    return *std::move(result);
  }
  if (auto result = whole<std::uint64_t>(arguments, remainder)) {
    return *std::move(result);
  }
  return unsuitable(arguments);
}

base::Result<Value> equals(Arguments arguments, Budget& budget) {
  MW_TRY(same, equal(arguments[0], arguments[1], budget));
  return Value{same};
}

base::Result<Value> differs(Arguments arguments, Budget& budget) {
  MW_TRY(same, equal(arguments[0], arguments[1], budget));
  return Value{!same};
}

base::Result<Value> is_less(Arguments arguments, Budget&) {
  MW_TRY(order, compare(arguments[0], arguments[1]));
  return Value{std::is_lt(order)};
}

base::Result<Value> is_at_most(Arguments arguments, Budget&) {
  MW_TRY(order, compare(arguments[0], arguments[1]));
  return Value{std::is_lteq(order)};
}

base::Result<Value> is_greater(Arguments arguments, Budget&) {
  MW_TRY(order, compare(arguments[0], arguments[1]));
  return Value{std::is_gt(order)};
}

base::Result<Value> is_at_least(Arguments arguments, Budget&) {
  MW_TRY(order, compare(arguments[0], arguments[1]));
  return Value{std::is_gteq(order)};
}

base::Result<Value> is_in(Arguments arguments, Budget& budget) {
  if (const auto* const map = arguments[1].as<SharedMap>()) {
    MW_TRY(found, find(**map, arguments[0], budget));
    return Value{found != nullptr};
  }
  const auto* const list = arguments[1].as<SharedList>();
  if (list == nullptr) {
    return unsuitable(arguments);
  }
  for (const Value& item : **list) {
    const auto same = equal(arguments[0], item, budget);
    if (budget.is_spent()) {
      return too_costly();
    }
    // What cannot be compared is another value.
    if (same && *same) {
      return Value{true};
    }
  }
  return Value{false};
}

// The place of a list that a key means; a double must be whole.
base::Result<std::int64_t> list_index(const Value& key) {
  if (const auto* const number = key.as<std::int64_t>()) {
    return *number;
  }
  constexpr std::int64_t kBeyond = std::numeric_limits<std::int64_t>::max();
  if (const auto* const number = key.as<std::uint64_t>()) {
    return *number < static_cast<std::uint64_t>(kBeyond) ? static_cast<std::int64_t>(*number)
                                                         : kBeyond;
  }
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const auto* const number = key.as<double>();
  if (number != nullptr && *number == std::trunc(*number) && std::fabs(*number) < kExact) {
    return static_cast<std::int64_t>(*number);
  }
  return failed("a list has no index of type " + std::string(type_name(key)));
}

struct OperatorEntry {
  std::string_view symbol;
  Function call;
};
constexpr std::array kOperators{
    OperatorEntry{"+", add},          OperatorEntry{"-", subtract},
    OperatorEntry{"*", multiply},     OperatorEntry{"/", divide},
    OperatorEntry{"%", modulo},       OperatorEntry{"==", equals},
    OperatorEntry{"!=", differs},     OperatorEntry{"<", is_less},
    OperatorEntry{"<=", is_at_most},  OperatorEntry{">", is_greater},
    OperatorEntry{">=", is_at_least}, OperatorEntry{"in", is_in},
};

}  // namespace

Function find_operator(std::string_view symbol) {
  for (const OperatorEntry& entry : kOperators) {
    if (entry.symbol == symbol) {
      return entry.call;
    }
  }
  return nullptr;
}

base::Result<Value> negate(Arguments arguments, Budget&) {
  if (const auto* const number = arguments[0].as<std::int64_t>()) {
    if (*number == std::numeric_limits<std::int64_t>::min()) {
      return overflow();
    }
    return Value{-*number};
  }
  if (const auto* const number = arguments[0].as<double>()) {
    return Value{-*number};
  }
  return unsuitable(arguments);
}

base::Result<Value> logical_not(Arguments arguments, Budget&) {
  const auto* const flag = arguments[0].as<bool>();
  if (flag == nullptr) {
    return unsuitable(arguments);
  }
  return Value{!*flag};
}

base::Result<std::optional<Value>> element(const Value& container, const Value& key,
                                           Budget& budget) {
  if (const auto* const list = container.as<SharedList>()) {
    MW_TRY(index, list_index(key));
    if (index < 0 || static_cast<std::uint64_t>(index) >= (*list)->size()) {
      return std::optional<Value>();
    }
    return (**list)[static_cast<std::size_t>(index)];
  }
  const auto* const map = container.as<SharedMap>();
  if (map == nullptr) {
    return failed("a value of type " + std::string(type_name(container)) + " has no elements");
  }
  MW_TRY(found, find(**map, key, budget));
  if (found != nullptr) {
    return *found;
  }
  return (*map)->missing_is_empty ? std::optional(make_map({})) : std::nullopt;
}

}  // namespace millwright::model::cel
