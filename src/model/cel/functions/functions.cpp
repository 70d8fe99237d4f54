#include "model/cel/functions/functions.hpp"

#include "model/cel/utf8.hpp"

#include <array>

namespace millwright::model::cel {
namespace {

base::Result<Value> size(Arguments arguments, Budget&) {
  const Value& value = arguments[0];
  std::size_t count = 0;
  if (const auto* const text = value.as<SharedText>()) {
    count = code_points(**text);
  } else if (const auto* const list = value.as<SharedList>()) {
    count = (*list)->size();
  } else if (const auto* const map = value.as<SharedMap>()) {
    count = (*map)->entries.size();
  } else {
    return unsuitable(arguments);
  }
  return Value{static_cast<std::int64_t>(count)};
}

base::Result<Value> has_value(Arguments arguments, Budget&) {
  const auto* const optional = arguments[0].as<Optional>();
  if (optional == nullptr) {
    return unsuitable(arguments);
  }
  return Value{optional->value != nullptr};
}

base::Result<Value> value_of(Arguments arguments, Budget&) {
  const auto* const optional = arguments[0].as<Optional>();
  if (optional == nullptr) {
    return unsuitable(arguments);
  }
  if (optional->value == nullptr) {
    return failed("there is no value");
  }
  return *optional->value;
}

base::Result<Value> same(Arguments arguments, Budget&) {
  return arguments[0];
}

base::Result<Value> optional_of(Arguments arguments, Budget&) {
  return make_optional(arguments[0]);
}

base::Result<Value> optional_none(Arguments, Budget&) {
  return Value{Optional{}};
}

constexpr std::array kGeneralFunctions{
    FunctionEntry{"size", FunctionEntry::Style::Either, 1, 1, size},
    FunctionEntry{"dyn", FunctionEntry::Style::Global, 1, 1, same},
    FunctionEntry{"optional.of", FunctionEntry::Style::Global, 1, 1, optional_of},
    FunctionEntry{"optional.none", FunctionEntry::Style::Global, 0, 0, optional_none},
    FunctionEntry{"hasValue", FunctionEntry::Style::Member, 1, 1, has_value},
    FunctionEntry{"value", FunctionEntry::Style::Member, 1, 1, value_of},
};

}  // namespace

const FunctionEntry* find_function(std::string_view name, bool member) {
  const auto other_style = member ? FunctionEntry::Style::Global : FunctionEntry::Style::Member;
  for (const auto part : {std::span<const FunctionEntry>(kGeneralFunctions), text_functions(),
                          conversion_functions(), kubernetes_functions()}) {
    for (const FunctionEntry& entry : part) {
      if (entry.name == name && entry.style != other_style) {
        return &entry;
      }
    }
  }
  return nullptr;
}

tl::unexpected<base::Error> unsuitable(Arguments arguments) {
  std::string types;
  for (const Value& argument : arguments) {
    types.append(types.empty() ? "" : ", ").append(type_name(argument));
  }
  return failed("cannot be applied to (" + types + ")");
}

tl::unexpected<base::Error> failed(std::string problem) {
  return base::fail(base::ErrorKind::Invalid, std::move(problem));
}

}  // namespace millwright::model::cel
