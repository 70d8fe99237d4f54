// Reads JSON into structs: a Reader is a value and the way to it, so that the first thing of the
// wrong type is reported with its path ("spec.containers[0].resources.requests.cpu"). Reading goes
// on after a problem; the caller drops the half-read object. Fields unknown here are not looked at.
// Absent and null leave the default, as Go's decoder does.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/resources.hpp"
#include "millwright/model/selector.hpp"
#include "millwright/model/taints.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model::detail {

class Reader {
 public:
  // `problem` receives the first problem and must be empty.
  Reader(const boost::json::value& value, std::string& problem)
      : value_(&value), problem_(&problem) {}

  const boost::json::value& value() const { return *value_; }

  // A step into an object or list; this Reader must outlive the step.
  Reader step(std::string_view key, const boost::json::value& value) const {
    return Reader(value, *problem_, this, key, 0);
  }
  Reader step(std::size_t index, const boost::json::value& value) const {
    return Reader(value, *problem_, this, {}, index);
  }

  // The value of a field, unless absent or null.
  std::optional<Reader> find(std::string_view key) const;
  // The field at the end of a dotted path; every step but the last must be an object when present.
  // `read_at` is called with its Reader.
  template <class F>
  void at(std::string_view dotted_path, F read_at) const {
    const std::size_t dot = dotted_path.find('.');
    if (const auto next = find(dotted_path.substr(0, dot))) {
      if (dot == std::string_view::npos) {
        read_at(*next);
      } else {
        next->at(dotted_path.substr(dot + 1), read_at);
      }
    }
  }
  template <class T>
  void field(std::string_view dotted_path, T& out) const {
    at(dotted_path, [&out](const Reader& reader) { read(reader, out); });
  }

  // Notes that something else was found here than `wanted` ("a string").
  void expected(std::string_view wanted) const;
  void fail(std::string_view problem) const;

 private:
  Reader(const boost::json::value& value, std::string& problem, const Reader* parent,
         std::string_view key, std::size_t index)
      : value_(&value), problem_(&problem), parent_(parent), key_(key), index_(index) {}
  std::string path() const;

  const boost::json::value* value_;
  std::string* problem_;
  const Reader* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

void read(const Reader& reader, std::string& out);
void read(const Reader& reader, bool& out);
void read(const Reader& reader, std::int32_t& out);
void read(const Reader& reader, std::int64_t& out);
void read(const Reader& reader, base::TimePoint& out);
void read(const Reader& reader, std::optional<base::TimePoint>& out);
void read(const Reader& reader, Quantity& out);
void read(const Reader& reader, StringMap& out);
void read(const Reader& reader, ResourceList& out);
void read(const Reader& reader, OwnerReference& out);
void read(const Reader& reader, ObjectMeta& out);
void read(const Reader& reader, Condition& out);
void read(const Reader& reader, Taint& out);
void read(const Reader& reader, Toleration& out);
void read(const Reader& reader, SelectorRequirement& out);
void read(const Reader& reader, LabelSelector& out);
void read(const Reader& reader, NodeSelectorTerm& out);
// The metadata of an object without labels, annotations and owners.
void read_slim(const Reader& object, ObjectMeta& out);
// An integer or text, as text.
void read_int_or_string(const Reader& reader, std::string& out);

template <class T>
void read(const Reader& reader, std::vector<T>& out) {
  out.clear();
  const auto* const list = reader.value().if_array();
  if (list == nullptr) {
    reader.expected("a list");
    return;
  }
  out.reserve(list->size());
  for (std::size_t i = 0; i < list->size(); ++i) {
    read(reader.step(i, (*list)[i]), out.emplace_back());
  }
}

template <class T>
void read(const Reader& reader, std::optional<T>& out) {
  read(reader, out.emplace());
}

// Decodes a whole object. `kind` is named in errors and must be the object's own, when it has one.
template <class T>
base::Result<T> decode_object(std::string_view kind, const boost::json::value& json);

// "Pod default/web: <problem>".
base::Error object_error(std::string_view kind, const boost::json::value& json,
                         std::string_view problem);
void check_kind(const Reader& reader, std::string_view kind);

template <class T>
base::Result<T> decode_object(std::string_view kind, const boost::json::value& json) {
  std::string problem;
  const Reader reader(json, problem);
  T out;
  check_kind(reader, kind);
  read(reader, out);
  if (!problem.empty()) {
    return tl::unexpected(object_error(kind, json, problem));
  }
  return out;
}

}  // namespace millwright::model::detail
