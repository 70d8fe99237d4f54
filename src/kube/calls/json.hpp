// Reading fields of API objects that may be missing or of the wrong type.
#pragma once

#include "millwright/model/codec.hpp"
#include "millwright/model/kinds.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace millwright::kube {

using model::text_at;

inline std::optional<std::int64_t> integer_at(const boost::json::value& json,
                                              std::string_view path) {
  const auto* found = model::find_path(json, path);
  if (found == nullptr || !found->is_int64()) {
    return std::nullopt;
  }
  return found->get_int64();
}

inline model::ObjectKey key_at(const boost::json::value& object) {
  return {.namespace_ = std::string(text_at(object, "metadata.namespace")),
          .name = std::string(text_at(object, "metadata.name"))};
}

// List items, and objects built by callers, may lack the two fields that say what they are.
inline void fill_type(boost::json::object& object, const model::Resource& resource) {
  if (!object.contains("apiVersion")) {
    object["apiVersion"] = resource.api_version();
  }
  if (!object.contains("kind")) {
    object["kind"] = resource.kind;
  }
}

}  // namespace millwright::kube
