// Functions of text: CEL's own, and the library of strings that Kubernetes adds.
#include "model/cel/functions/functions.hpp"
#include "model/cel/functions/pattern.hpp"
#include "model/cel/utf8.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace millwright::model::cel {
namespace {

// The text of an argument, or nullptr.
const std::string* text_at(Arguments arguments, std::size_t index) {
  const auto* const text = arguments[index].as<SharedText>();
  return text == nullptr ? nullptr : text->get();
}

// What it may take to look for a part: each place may agree with most of it.
std::size_t search_cost(const std::string& text, const std::string& part) {
  constexpr std::size_t kComparedInAStep = 1024;
  return text.size() * part.size() / kComparedInAStep;
}

template <class F>
base::Result<Value> test_texts(Arguments arguments, Budget& budget, F test) {
  const auto* const text = text_at(arguments, 0);
  const auto* const part = text_at(arguments, 1);
  if (text == nullptr || part == nullptr) {
    return unsuitable(arguments);
  }
  if (!budget.spend(search_cost(*text, *part))) {
    return too_costly();
  }
  return Value{static_cast<bool>(test(*text, *part))};
}

// Text made of one text, of at most its length.
template <class F>
base::Result<Value> change_text(Arguments arguments, Budget& budget, F change) {
  const auto* const text = text_at(arguments, 0);
  if (text == nullptr) {
    return unsuitable(arguments);
  }
  if (!budget.spend(text->size())) {
    return too_costly();
  }
  return make_text(change(*text));
}

base::Result<Value> contains(Arguments arguments, Budget& budget) {
  return test_texts(arguments, budget, [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  });
}

base::Result<Value> starts_with(Arguments arguments, Budget& budget) {
  return test_texts(arguments, budget, [](const std::string& text, const std::string& part) {
    return text.starts_with(part);
  });
}

base::Result<Value> ends_with(Arguments arguments, Budget& budget) {
  return test_texts(arguments, budget, [](const std::string& text, const std::string& part) {
    return text.ends_with(part);
  });
}

// With a pattern that is not known before; those that are written out are compiled by the parser.
base::Result<Value> matches(Arguments arguments, Budget& budget) {
  const auto* const text = text_at(arguments, 0);
  const auto* const regex = text_at(arguments, 1);
  if (text == nullptr || regex == nullptr) {
    return unsuitable(arguments);
  }
  constexpr std::size_t kCompilation = 5000;
  if (!budget.spend(kCompilation + regex->size())) {
    return too_costly();
  }
  MW_TRY(pattern, Pattern::compile(*regex));
  MW_TRY(found, pattern->matches(*text, budget));
  return Value{found};
}

base::Result<Value> lower_ascii(Arguments arguments, Budget& budget) {
  return change_text(arguments, budget, [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
  });
}

base::Result<Value> upper_ascii(Arguments arguments, Budget& budget) {
  return change_text(arguments, budget, [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
  });
}

// The blanks of ASCII. Those that Unicode has besides do not occur in attributes.
base::Result<Value> trim(Arguments arguments, Budget& budget) {
  return change_text(arguments, budget, [](const std::string& text) {
    constexpr std::string_view kBlanks = " \t\n\v\f\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    return first == std::string::npos
               ? std::string()
               : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  });
}

// The number of an argument; `absent` where it is left out, and nullopt where it is no int.
std::optional<std::int64_t> int_at(Arguments arguments, std::size_t index, std::int64_t absent) {
  if (index >= arguments.size()) {
    return absent;
  }
  const auto* const number = arguments[index].as<std::int64_t>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

// Where the code point of an index begins, if the text has it or ends before it.
std::optional<std::size_t> place(std::string_view text, std::int64_t index) {
  return index < 0 ? std::nullopt : offset_of(text, static_cast<std::size_t>(index));
}

base::Result<Value> substring(Arguments arguments, Budget& budget) {
  const auto* const text = text_at(arguments, 0);
  const auto begin = int_at(arguments, 1, 0);
  if (text == nullptr || !begin) {
    return unsuitable(arguments);
  }
  if (!budget.spend(text->size())) {
    return too_costly();
  }
  const auto length = static_cast<std::int64_t>(code_points(*text));
  const auto end = int_at(arguments, 2, length);
  if (!end) {
    return unsuitable(arguments);
  }
  const auto from = place(*text, *begin);
  const auto to = place(*text, *end);
  if (!from || !to || *begin > *end) {
    return failed("the text has no part from " + std::to_string(*begin) + " to " +
                  std::to_string(*end));
  }
  return make_text(text->substr(*from, *to - *from));
}

base::Result<Value> char_at(Arguments arguments, Budget& budget) {
  const auto* const text = text_at(arguments, 0);
  const auto* const index = arguments[1].as<std::int64_t>();
  if (text == nullptr || index == nullptr) {
    return unsuitable(arguments);
  }
  if (!budget.spend(text->size())) {
    return too_costly();
  }
  const auto from = place(*text, *index);
  if (!from) {
    return failed("the text has no character " + std::to_string(*index));
  }
  // Behind the last one there is empty text.
  const auto to = *from == text->size() ? from : place(*text, *index + 1);
  return make_text(text->substr(*from, to.value_or(text->size()) - *from));
}

// The index of a part; `search` gets the place of the code point to look from, where one is named.
template <class F>
base::Result<Value> find_part(Arguments arguments, Budget& budget, F search) {
  const auto* const text = text_at(arguments, 0);
  const auto* const part = text_at(arguments, 1);
  const auto begin = int_at(arguments, 2, 0);
  if (text == nullptr || part == nullptr || !begin) {
    return unsuitable(arguments);
  }
  if (!budget.spend(text->size() + search_cost(*text, *part))) {
    return too_costly();
  }
  std::optional<std::size_t> from;
  if (arguments.size() > 2) {
    from = place(*text, *begin);
    if (!from) {
      return failed("the text has no character " + std::to_string(*begin));
    }
  }
  const std::size_t found = search(*text, *part, from);
  return Value{found == std::string::npos
                   ? std::int64_t{-1}
                   : static_cast<std::int64_t>(code_points(text->substr(0, found)))};
}

base::Result<Value> index_of(Arguments arguments, Budget& budget) {
  return find_part(arguments, budget, [](const auto& text, const auto& part, auto from) {
    return text.find(part, from.value_or(0));
  });
}

base::Result<Value> last_index_of(Arguments arguments, Budget& budget) {
  return find_part(arguments, budget, [](const auto& text, const auto& part, auto from) {
    return text.rfind(part, from.value_or(std::string::npos));
  });
}

// Where the next separator begins, if there is one; an empty one is between any two code points.
std::size_t find_separator(std::string_view text, std::string_view separator) {
  if (!separator.empty()) {
    return text.find(separator);
  }
  const std::size_t second = offset_of(text, 1).value_or(text.size());
  return second < text.size() ? second : std::string_view::npos;
}

base::Result<Value> split(Arguments arguments, Budget& budget) {
  const auto* const text = text_at(arguments, 0);
  const auto* const separator = text_at(arguments, 1);
  const auto limit = int_at(arguments, 2, -1);
  if (text == nullptr || separator == nullptr || !limit) {
    return unsuitable(arguments);
  }
  if (!budget.spend(text->size() + search_cost(*text, *separator))) {
    return too_costly();
  }
  std::vector<Value> parts;
  std::string_view rest = *text;
  if (*limit == 0 || (rest.empty() && separator->empty())) {
    return make_list(std::move(parts));
  }
  for (std::int64_t left = *limit; left != 1; --left) {
    const std::size_t end = find_separator(rest, *separator);
    if (end == std::string_view::npos) {
      break;
    }
    parts.push_back(make_text(std::string(rest.substr(0, end))));
    rest.remove_prefix(end + separator->size());
  }
  parts.push_back(make_text(std::string(rest)));
  return make_list(std::move(parts));
}

base::Result<Value> join(Arguments arguments, Budget& budget) {
  const auto* const list = arguments[0].as<SharedList>();
  if (list == nullptr || (arguments.size() > 1 && text_at(arguments, 1) == nullptr)) {
    return unsuitable(arguments);
  }
  const std::string separator = arguments.size() > 1 ? *text_at(arguments, 1) : std::string();
  std::string joined;
  bool first = true;
  for (const Value& item : **list) {
    const auto* const text = item.as<SharedText>();
    if (text == nullptr) {
      return failed("joins text only, not a value of type " + std::string(type_name(item)));
    }
    if (!budget.spend(1 + separator.size() + (*text)->size())) {
      return too_costly();
    }
    joined.append(first ? "" : separator).append(**text);
    first = false;
  }
  return make_text(std::move(joined));
}

base::Result<Value> replace(Arguments arguments, Budget& budget) {
  const auto* const text = text_at(arguments, 0);
  const auto* const old = text_at(arguments, 1);
  const auto* const fresh = text_at(arguments, 2);
  const auto limit = int_at(arguments, 3, -1);
  if (text == nullptr || old == nullptr || fresh == nullptr || !limit) {
    return unsuitable(arguments);
  }
  if (!budget.spend(1 + text->size() + search_cost(*text, *old))) {
    return too_costly();
  }
  std::string replaced;
  std::size_t at = 0;
  for (std::int64_t times = 0; times != *limit && at <= text->size(); ++times) {
    const std::size_t found = text->find(*old, at);
    if (found == std::string::npos) {
      break;
    }
    if (!budget.spend(1 + fresh->size())) {
      return too_costly();
    }
    replaced.append(*text, at, found - at).append(*fresh);
    at = found + old->size();
    if (old->empty()) {
      // Nothing is before every code point and at the end.
      const std::size_t next =
          at + offset_of(std::string_view(*text).substr(at), 1).value_or(text->size() - at + 1);
      replaced.append(*text, std::min(at, text->size()), next - at);
      at = next;
    }
  }
  replaced.append(*text, std::min(at, text->size()));
  return make_text(std::move(replaced));
}

using Style = FunctionEntry::Style;
constexpr std::array kTextFunctions{
    FunctionEntry{"contains", Style::Member, 2, 2, contains},
    FunctionEntry{"startsWith", Style::Member, 2, 2, starts_with},
    FunctionEntry{"endsWith", Style::Member, 2, 2, ends_with},
    FunctionEntry{"matches", Style::Either, 2, 2, matches},
    FunctionEntry{"lowerAscii", Style::Member, 1, 1, lower_ascii},
    FunctionEntry{"upperAscii", Style::Member, 1, 1, upper_ascii},
    FunctionEntry{"trim", Style::Member, 1, 1, trim},
    FunctionEntry{"substring", Style::Member, 2, 3, substring},
    FunctionEntry{"charAt", Style::Member, 2, 2, char_at},
    FunctionEntry{"indexOf", Style::Member, 2, 3, index_of},
    FunctionEntry{"lastIndexOf", Style::Member, 2, 3, last_index_of},
    FunctionEntry{"split", Style::Member, 2, 3, split},
    FunctionEntry{"join", Style::Member, 1, 2, join},
    FunctionEntry{"replace", Style::Member, 3, 4, replace},
};

}  // namespace

std::span<const FunctionEntry> text_functions() {
  return kTextFunctions;
}

}  // namespace millwright::model::cel
