// Columns of server-side Tables: a printer per built-in kind, printer columns for custom kinds.
#include "sandbox/apiserver/showing/printers.hpp"
#include "sandbox/apiserver/showing/render.hpp"

#include <boost/json.hpp>

namespace millwright::sandbox {

namespace {

// One step of a JSONPath as CRDs use it: .name, .with\.dots, [?(@.type=="Ready")] or [*], of which
// a cell shows the first.
struct Step {
  std::string field;  // empty without a filter: the first item
  std::string filter_field;
  std::string filter_value;
};

std::vector<Step> parse_json_path(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    if (path.starts_with("[?(@.")) {
      const auto end = path.find(")]");
      const auto body = path.substr(5, end - 5);
      const auto equals = body.find("==");
      auto value = body.substr(equals + 2);
      while (!value.empty() && (value.front() == '"' || value.front() == '\'')) {
        value = value.substr(1, value.size() - 2);
      }
      steps.push_back({{}, std::string(body.substr(0, equals)), std::string(value)});
      path = end == std::string_view::npos ? std::string_view{} : path.substr(end + 2);
      continue;
    }
    if (path.starts_with("[*]")) {
      steps.emplace_back();
      path.remove_prefix(3);
      continue;
    }
    if (path.front() == '.') {
      path.remove_prefix(1);
    }
    Step step;
    while (!path.empty() && path.front() != '.' && path.front() != '[') {
      if (path.front() == '\\' && path.size() > 1) {
        path.remove_prefix(1);
      }
      step.field += path.front();
      path.remove_prefix(1);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

const Json* follow(const Json& object, std::string_view json_path) {
  const Json* at = &object;
  for (const auto& step : parse_json_path(json_path)) {
    if (!step.filter_field.empty()) {
      const Json* match = nullptr;
      if (at->is_array()) {
        for (const auto& item : at->get_array()) {
          if (text(item, step.filter_field) == step.filter_value) {
            match = &item;
            break;
          }
        }
      }
      at = match;
    } else if (step.field.empty()) {
      at = at->is_array() && !at->get_array().empty() ? &at->get_array().front() : nullptr;
    } else {
      at = at->is_object() ? at->get_object().if_contains(step.field) : nullptr;
    }
    if (at == nullptr) {
      return nullptr;
    }
  }
  return at;
}

Json custom_cell(const Json& object, const schema::PrinterColumn& column, base::TimePoint now) {
  const auto* value = follow(object, column.json_path);
  if (column.type == "date") {
    return value != nullptr && value->is_string() ? Json(age_since(value->get_string(), now))
                                                  : Json("<unknown>");
  }
  if (value == nullptr || value->is_null()) {
    return column.type == "string" ? Json("") : Json();
  }
  if (column.type == "string" && !value->is_string()) {
    return Json(to_text(*value));
  }
  return *value;
}

constexpr std::string_view kNameHelp = "Name must be unique within a namespace.";

}  // namespace

std::vector<Column> columns_of(const ResourceInfo& info) {
  std::vector<Column> columns{{"Name", "string", "name", std::string(kNameHelp), 0}};
  if (info.custom != nullptr) {
    for (const auto& column : schema::printer_columns(*info.custom)) {
      columns.push_back(
          {std::string(column.name), std::string(column.type), {}, {}, column.wide ? 1 : 0});
    }
    return columns;
  }
  const auto* printer = find_printer(info.resource.kind);
  if (printer == nullptr) {
    columns.push_back({"Created At", "date", {}, {}, 0});
    return columns;
  }
  if (printer->without_name) {
    columns.clear();
  }
  for (const auto& column : printer->columns) {
    columns.push_back({std::string(column.name),
                       column.is_number ? "integer" : "string",
                       {},
                       {},
                       column.wide ? 1 : 0});
  }
  return columns;
}

boost::json::array cells_of(const ResourceInfo& info, const Json& object, base::TimePoint now) {
  boost::json::array cells{Json(text(object, "metadata.name"))};
  if (info.custom != nullptr) {
    for (const auto& column : schema::printer_columns(*info.custom)) {
      cells.push_back(custom_cell(object, column, now));
    }
    return cells;
  }
  const auto* printer = find_printer(info.resource.kind);
  if (printer == nullptr) {
    cells.push_back(Json(text(object, "metadata.creationTimestamp")));
    return cells;
  }
  if (printer->without_name) {
    cells.clear();
  }
  for (auto& cell : printer->print(object, now)) {
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace millwright::sandbox
