// The objects of test/data/admission: bases, and cases that change a base so that it breaks one
// rule or just keeps it. Read by the tests of the schema and of the webhooks.
#pragma once

#include "millwright/model/codec.hpp"
#include "millwright/model/patch.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace millwright {
namespace json = boost::json;
}

namespace millwright::test {

struct AdmissionCase {
  std::string name;
  json::value object;
  std::optional<json::value> old;  // set for updates
  std::vector<std::string> paths;  // every problem, sorted; empty when the object is valid
  std::string says;
  bool by_crd = true;  // the CRD itself refuses it; otherwise only run-time validation does

  friend void PrintTo(const AdmissionCase& test_case, std::ostream* out) { *out << test_case.name; }
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<json::value> read_yaml(const std::string& path) {
  auto documents = model::parse_yaml(read_file(path));
  if (!documents) {
    throw std::runtime_error(path + ": " + documents.error().message);
  }
  return *std::move(documents);
}

inline std::string text_or(const json::object& object, std::string_view key,
                           std::string fallback = {}) {
  const json::value* found = object.if_contains(key);
  return found == nullptr ? fallback : json::value_to<std::string>(*found);
}

inline std::string replace_all(std::string text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

inline const json::value* find(const json::value& object, std::string_view pointer) {
  boost::system::error_code none;
  return object.find_pointer(pointer, none);
}

inline void patch(json::value& object, json::object operation) {
  const auto done = model::apply_json_patch(object, json::array{std::move(operation)});
  if (!done) {
    throw std::runtime_error(done.error().message);
  }
}

// "grow": repeats an entry of a list or map, or a text, with {n} counting up.
inline void grow(json::value& object, const json::object& how) {
  const std::string path = text_or(how, "path");
  const bool numbers = how.contains("numbers");
  const json::value* found = find(object, path);
  json::value target = found == nullptr ? json::value(nullptr) : *found;
  if (how.contains("text")) {
    std::string text;
    for (std::int64_t n = 0; n < how.at("times").as_int64(); ++n) {
      text += text_or(how, "text");
    }
    patch(object, {{"op", "add"}, {"path", path}, {"value", text}});
    return;
  }
  if (target.is_null()) {
    target = how.contains("key") ? json::value(json::object()) : json::value(json::array());
  }
  for (std::int64_t n = 0; n < how.at("times").as_int64(); ++n) {
    const std::string count = std::to_string(n);
    const std::string value = json::serialize(how.at("value"));
    const json::value entry = json::parse(replace_all(value, numbers ? "\"{n}\"" : "{n}", count));
    if (how.contains("key")) {
      target.as_object()[replace_all(text_or(how, "key"), "{n}", count)] = entry;
    } else {
      target.as_array().push_back(entry);
    }
  }
  // A list item is replaced, anything else added or replaced.
  patch(object, {{"op", found == nullptr ? "add" : "replace"}, {"path", path}, {"value", target}});
}

inline json::value changed(json::value object, const json::object& change) {
  if (const json::value* drop = change.if_contains("drop")) {
    for (const json::value& path : drop->as_array()) {
      patch(object, {{"op", "remove"}, {"path", path}});
    }
  }
  if (const json::value* set = change.if_contains("set")) {
    for (const auto& [path, value] : set->as_object()) {
      const bool there = find(object, path) != nullptr;
      patch(object, {{"op", there ? "replace" : "add"}, {"path", path}, {"value", value}});
    }
  }
  if (const json::value* how = change.if_contains("grow")) {
    grow(object, how->as_object());
  }
  return object;
}

inline std::map<std::string, json::value> admission_bases() {
  std::map<std::string, json::value> bases;
  for (const json::value& document : read_yaml(TEST_DATA_DIR "/admission/bases.yaml")) {
    bases[text_or(document.as_object(), "name")] = document.at("object");
  }
  return bases;
}

inline AdmissionCase admission_case(const std::string& base_name, const json::value& base,
                                    const json::object& form) {
  AdmissionCase result;
  result.name = base_name + ": " + text_or(form, "name");
  result.object = changed(base, form);
  if (const json::value* was = form.if_contains("was")) {
    result.old = changed(base, was->as_object());
  }
  if (form.contains("problem")) {
    result.paths.push_back(text_or(form, "problem"));
  }
  if (const json::value* also = form.if_contains("also")) {
    for (const json::value& path : also->as_array()) {
      result.paths.push_back(json::value_to<std::string>(path));
    }
  }
  std::sort(result.paths.begin(), result.paths.end());
  result.says = text_or(form, "says");
  result.by_crd = text_or(form, "by", "crd") == "crd";
  return result;
}

// `file` is "valid.yaml" or one of invalid_*.yaml.
inline std::vector<AdmissionCase> admission_cases(const std::string& file) {
  const auto bases = admission_bases();
  std::vector<AdmissionCase> cases;
  for (const json::value& document : read_yaml(TEST_DATA_DIR "/admission/" + file)) {
    const std::string base = text_or(document.as_object(), "base");
    for (const json::value& form : document.at("cases").as_array()) {
      cases.push_back(admission_case(base, bases.at(base), form.as_object()));
    }
  }
  return cases;
}

inline std::vector<AdmissionCase> invalid_admission_cases() {
  std::vector<AdmissionCase> cases;
  for (const char* file : {"invalid_nodepool.yaml", "invalid_nodeclaim.yaml", "invalid_aws.yaml",
                           "invalid_clouds.yaml", "invalid_alpha.yaml"}) {
    for (AdmissionCase& found : admission_cases(file)) {
      cases.push_back(std::move(found));
    }
  }
  return cases;
}

}  // namespace millwright::test
