#include "millwright/model/patch.hpp"

#include "millwright/model/json_fields.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace millwright::model {
namespace {

namespace json = boost::json;

// "/a~1b/0" as the steps "a/b" and "0"; nullopt when the text is no JSON pointer (RFC 6901).
std::optional<std::vector<std::string>> parse_pointer(std::string_view text) {
  std::vector<std::string> steps;
  if (text.empty()) {
    return steps;
  }
  if (text.front() != '/') {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      steps.emplace_back();
    } else if (text[i] != '~') {
      steps.back() += text[i];
    } else if (i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      steps.back() += text[++i] == '0' ? '~' : '/';
    } else {
      return std::nullopt;
    }
  }
  return steps;
}

std::string escaped(std::string_view step) {
  std::string text;
  for (const char c : step) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

// An index at most `limit`, without leading zeros.
std::optional<std::size_t> parse_index(std::string_view text, std::size_t limit) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) {
    return std::nullopt;
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index > limit) {
    return std::nullopt;
  }
  return index;
}

json::value* child_of(json::value& parent, std::string_view step) {
  if (auto* const object = parent.if_object()) {
    return object->if_contains(step);
  }
  if (auto* const array = parent.if_array(); array != nullptr && !array->empty()) {
    const auto index = parse_index(step, array->size() - 1);
    return index ? &(*array)[*index] : nullptr;
  }
  return nullptr;
}

// A place that an operation names: the value that holds it and the last step to it.
struct Place {
  std::vector<std::string> steps;
  json::value* parent = nullptr;  // nullptr: the place is the whole document

  const std::string& last() const { return steps.back(); }
};

// Carries the operations out on its copy of the document. Each returns the problem, empty when
// there was none.
class PatchedDocument {
 public:
  explicit PatchedDocument(const json::value& document) : document_(document) {}
  json::value take() { return std::move(document_); }

  std::string apply(const json::object& operation) {
    const std::string op(as_text(operation.if_contains("op")));
    Place place;
    if (std::string problem = locate(operation, "path", place); !problem.empty()) {
      return problem;
    }
    if (op == "remove") {
      return remove(place);
    }
    if (op == "move" || op == "copy") {
      return move_or_copy(operation, op == "move", place);
    }
    if (op != "add" && op != "replace" && op != "test") {
      return "op \"" + op + "\" is unknown";
    }
    const json::value* const value = operation.if_contains("value");
    if (value == nullptr) {
      return "value is missing";
    }
    if (op == "add") {
      return add(place, *value);
    }
    json::value* const existing = find(place);
    if (existing == nullptr) {
      return "the path does not exist";
    }
    if (op == "test") {
      return *existing == *value ? "" : "the value differs";
    }
    *existing = *value;
    return {};
  }

 private:
  std::string locate(const json::object& operation, std::string_view key, Place& place) {
    const json::value* const pointer = operation.if_contains(key);
    if (pointer == nullptr || !pointer->is_string()) {
      return std::string(key) + " is missing or not a string";
    }
    auto steps = parse_pointer(pointer->get_string());
    if (!steps) {
      return std::string(key) + " is not a JSON pointer such as /metadata/labels/team";
    }
    place.steps = std::move(*steps);
    if (place.steps.empty()) {
      return {};
    }
    json::value* parent = &document_;
    for (std::size_t i = 0; i + 1 < place.steps.size() && parent != nullptr; ++i) {
      parent = child_of(*parent, place.steps[i]);
    }
    if (parent == nullptr || !parent->is_structured()) {
      return "the parent of " + std::string(key) + " does not exist";
    }
    place.parent = parent;
    return {};
  }

  json::value* find(const Place& place) {
    return place.parent == nullptr ? &document_ : child_of(*place.parent, place.last());
  }

  std::string add(const Place& place, const json::value& value) {
    if (place.parent == nullptr) {
      document_ = value;
      return {};
    }
    if (auto* const object = place.parent->if_object()) {
      (*object)[place.last()] = value;
      return {};
    }
    json::array& array = place.parent->get_array();
    const auto index =
        place.last() == "-" ? std::optional(array.size()) : parse_index(place.last(), array.size());
    if (!index) {
      return "the list has " + std::to_string(array.size()) + " items, \"" + place.last() +
             "\" is no index in it";
    }
    array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), value);
    return {};
  }

  std::string remove(const Place& place) {
    if (find(place) == nullptr) {
      return "the path does not exist";
    }
    if (place.parent == nullptr) {
      document_ = nullptr;
    } else if (auto* const object = place.parent->if_object()) {
      object->stable_erase(place.last());
    } else {
      json::array& array = place.parent->get_array();
      const auto index = parse_index(place.last(), array.size() - 1);
      array.erase(array.begin() + static_cast<std::ptrdiff_t>(*index));
    }
    return {};
  }

  std::string move_or_copy(const json::object& operation, bool move, Place place) {
    Place from;
    if (std::string problem = locate(operation, "from", from); !problem.empty()) {
      return problem;
    }
    const json::value* const source = find(from);
    if (source == nullptr) {
      return "from does not exist";
    }
    const json::value value = *source;
    if (move) {
      const bool into_itself =
          from.steps.size() < place.steps.size() &&
          std::equal(from.steps.begin(), from.steps.end(), place.steps.begin());
      if (into_itself) {
        return "a value cannot move into itself";
      }
      remove(from);
      // Removing may have moved the target's parent.
      if (std::string problem = locate(operation, "path", place); !problem.empty()) {
        return problem;
      }
    }
    return add(place, value);
  }

  json::value document_;
};

void append_operation(json::array& patch, std::string_view op, const std::string& path,
                      const json::value* value) {
  json::object operation{{"op", op}, {"path", path}};
  if (value != nullptr) {
    operation.emplace("value", *value);
  }
  patch.push_back(std::move(operation));
}

void append_difference(json::array& patch, const std::string& path, const json::value& from,
                       const json::value& to) {
  if (from == to) {
    return;
  }
  if (!from.is_object() || !to.is_object()) {
    append_operation(patch, "replace", path, &to);
    return;
  }
  for (const auto& entry : from.get_object()) {
    const std::string child = path + "/" + escaped(entry.key());
    if (const json::value* const next = to.get_object().if_contains(entry.key())) {
      append_difference(patch, child, entry.value(), *next);
    } else {
      append_operation(patch, "remove", child, nullptr);
    }
  }
  for (const auto& entry : to.get_object()) {
    if (!from.get_object().contains(entry.key())) {
      append_operation(patch, "add", path + "/" + escaped(entry.key()), &entry.value());
    }
  }
}

}  // namespace

void apply_merge_patch(json::value& target, const json::value& patch) {
  const json::object* const changes = patch.if_object();
  if (changes == nullptr) {
    target = patch;
    return;
  }
  if (!target.is_object()) {
    target = json::object();
  }
  for (const auto& change : *changes) {
    if (change.value().is_null()) {
      target.get_object().stable_erase(change.key());
    } else {
      apply_merge_patch(target.get_object()[change.key()], change.value());
    }
  }
}

base::Result<> apply_json_patch(json::value& target, const json::value& patch) {
  const json::array* const operations = patch.if_array();
  if (operations == nullptr) {
    return base::fail(base::ErrorKind::Invalid, "JSON patch: expected a list of operations");
  }
  PatchedDocument document(target);
  for (std::size_t i = 0; i < operations->size(); ++i) {
    const json::object* const operation = (*operations)[i].if_object();
    const std::string problem =
        operation == nullptr ? "expected an object with op and path" : document.apply(*operation);
    if (problem.empty()) {
      continue;
    }
    std::string message = "JSON patch: operation " + std::to_string(i);
    const json::value* const path = operation == nullptr ? nullptr : operation->if_contains("path");
    if (path != nullptr && path->is_string()) {
      message.append(" on \"").append(path->get_string()).append("\"");
    }
    return base::fail(base::ErrorKind::Invalid, message + ": " + problem);
  }
  target = document.take();
  return {};
}

json::value json_patch_between(const json::value& from, const json::value& to) {
  json::array patch;
  append_difference(patch, "", from, to);
  return patch;
}

}  // namespace millwright::model
