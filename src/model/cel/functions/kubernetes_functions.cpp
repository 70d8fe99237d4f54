// Kubernetes' libraries of quantities and of semantic versions. Quantities have their limits here,
// see Quantity.
#include "model/cel/functions/functions.hpp"

#include <array>
#include <compare>
#include <optional>

namespace millwright::model::cel {
namespace {

constexpr std::int64_t kMilli = 1000;

base::Result<Value> to_quantity(Arguments arguments, Budget&) {
  const auto* const text = arguments[0].as<SharedText>();
  if (text == nullptr) {
    return unsuitable(arguments);
  }
  const auto quantity = Quantity::parse(**text);
  if (!quantity) {
    return failed(describe(arguments[0]) + " is not a quantity");
  }
  return Value{*quantity};
}

base::Result<Value> is_quantity(Arguments arguments, Budget&) {
  const auto* const text = arguments[0].as<SharedText>();
  if (text == nullptr) {
    return unsuitable(arguments);
  }
  return Value{Quantity::parse(**text).has_value()};
}

// Texts that are read as versions, tolerantly if the second argument says so.
std::optional<base::Result<Semver>> read_version(Arguments arguments) {
  const auto* const text = arguments[0].as<SharedText>();
  const auto* const tolerant = arguments.size() > 1 ? arguments[1].as<bool>() : nullptr;
  if (text == nullptr || (arguments.size() > 1 && tolerant == nullptr)) {
    return std::nullopt;
  }
  return tolerant != nullptr && *tolerant ? Semver::parse_tolerantly(**text)
                                          : Semver::parse(**text);
}

base::Result<Value> to_semver(Arguments arguments, Budget&) {
  auto version = read_version(arguments);
  if (!version) {
    return unsuitable(arguments);
  }
  if (!*version) {
    return tl::unexpected(version->error());
  }
  return make_version(**std::move(version));
}

base::Result<Value> is_semver(Arguments arguments, Budget&) {
  const auto version = read_version(arguments);
  if (!version) {
    return unsuitable(arguments);
  }
  return Value{version->has_value()};
}

std::optional<std::strong_ordering> order_of(Arguments arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (const auto *a = left.as<Quantity>(), *b = right.as<Quantity>();
      a != nullptr && b != nullptr) {
    return *a <=> *b;
  }
  if (const auto *a = left.as<SharedVersion>(), *b = right.as<SharedVersion>();
      a != nullptr && b != nullptr) {
    return **a <=> **b;
  }
  return std::nullopt;
}

template <class F>
base::Result<Value> by_order(Arguments arguments, F result) {
  const auto order = order_of(arguments);
  if (!order) {
    return unsuitable(arguments);
  }
  return Value{result(*order)};
}

base::Result<Value> compare_to(Arguments arguments, Budget&) {
  return by_order(arguments, [](std::strong_ordering order) {
    return std::is_lt(order) ? std::int64_t{-1} : std::int64_t{std::is_gt(order) ? 1 : 0};
  });
}

base::Result<Value> is_greater_than(Arguments arguments, Budget&) {
  return by_order(arguments, [](std::strong_ordering order) { return std::is_gt(order); });
}

base::Result<Value> is_less_than(Arguments arguments, Budget&) {
  return by_order(arguments, [](std::strong_ordering order) { return std::is_lt(order); });
}

base::Result<Value> sign(Arguments arguments, Budget&) {
  const auto* const quantity = arguments[0].as<Quantity>();
  if (quantity == nullptr) {
    return unsuitable(arguments);
  }
  const std::int64_t milli = quantity->milli();
  return Value{std::int64_t{milli > 0 ? 1 : 0} - std::int64_t{milli < 0 ? 1 : 0}};
}

base::Result<Value> is_integer(Arguments arguments, Budget&) {
  const auto* const quantity = arguments[0].as<Quantity>();
  if (quantity == nullptr) {
    return unsuitable(arguments);
  }
  return Value{quantity->milli() % kMilli == 0};
}

base::Result<Value> as_integer(Arguments arguments, Budget&) {
  const auto* const quantity = arguments[0].as<Quantity>();
  if (quantity == nullptr) {
    return unsuitable(arguments);
  }
  if (quantity->milli() % kMilli != 0) {
    return failed("the quantity " + quantity->to_string() + " is not an integer");
  }
  return Value{quantity->milli() / kMilli};
}

base::Result<Value> as_approximate_float(Arguments arguments, Budget&) {
  const auto* const quantity = arguments[0].as<Quantity>();
  if (quantity == nullptr) {
    return unsuitable(arguments);
  }
  return Value{quantity->as_double()};
}

// A quantity or an int.
std::optional<Quantity> quantity_of(const Value& value) {
  if (const auto* const number = value.as<std::int64_t>()) {
    return Quantity::from_units(*number);
  }
  const auto* const quantity = value.as<Quantity>();
  return quantity == nullptr ? std::nullopt : std::optional(*quantity);
}

base::Result<Value> add_quantity(Arguments arguments, Budget&) {
  const auto* const quantity = arguments[0].as<Quantity>();
  const auto other = quantity_of(arguments[1]);
  if (quantity == nullptr || !other) {
    return unsuitable(arguments);
  }
  return Value{*quantity + *other};
}

base::Result<Value> subtract_quantity(Arguments arguments, Budget&) {
  const auto* const quantity = arguments[0].as<Quantity>();
  const auto other = quantity_of(arguments[1]);
  if (quantity == nullptr || !other) {
    return unsuitable(arguments);
  }
  return Value{*quantity - *other};
}

template <std::size_t part>
base::Result<Value> version_part(Arguments arguments, Budget&) {
  const auto* const version = arguments[0].as<SharedVersion>();
  if (version == nullptr) {
    return unsuitable(arguments);
  }
  return Value{(*version)->numbers[part]};
}

constexpr auto kFunction = FunctionEntry::Style::Global;
constexpr auto kMember = FunctionEntry::Style::Member;
constexpr std::array kKubernetesFunctions{
    FunctionEntry{"quantity", kFunction, 1, 1, to_quantity},
    FunctionEntry{"isQuantity", kFunction, 1, 1, is_quantity},
    FunctionEntry{"semver", kFunction, 1, 2, to_semver},
    FunctionEntry{"isSemver", kFunction, 1, 2, is_semver},
    FunctionEntry{"compareTo", kMember, 2, 2, compare_to},
    FunctionEntry{"isGreaterThan", kMember, 2, 2, is_greater_than},
    FunctionEntry{"isLessThan", kMember, 2, 2, is_less_than},
    FunctionEntry{"sign", FunctionEntry::Style::Either, 1, 1, sign},
    FunctionEntry{"isInteger", kMember, 1, 1, is_integer},
    FunctionEntry{"asInteger", kMember, 1, 1, as_integer},
    FunctionEntry{"asApproximateFloat", kMember, 1, 1, as_approximate_float},
    FunctionEntry{"add", kMember, 2, 2, add_quantity},
    FunctionEntry{"sub", kMember, 2, 2, subtract_quantity},
    FunctionEntry{"major", kMember, 1, 1, version_part<0>},
    FunctionEntry{"minor", kMember, 1, 1, version_part<1>},
    FunctionEntry{"patch", kMember, 1, 1, version_part<2>},
};

}  // namespace

std::span<const FunctionEntry> kubernetes_functions() {
  return kKubernetesFunctions;
}

}  // namespace millwright::model::cel
