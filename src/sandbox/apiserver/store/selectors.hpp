// The labelSelector and fieldSelector parameters of lists and watches.
#pragma once

#include "millwright/model/selector.hpp"
#include "sandbox/apiserver/rest/errors.hpp"

#include <string>
#include <vector>

namespace millwright::sandbox {

struct FieldTerm {
  std::string path;
  std::string value;
  bool equal = true;
};

// Everything that narrows a list. Immutable once made.
struct ObjectFilter {
  std::string namespace_;  // empty: all
  model::LabelSelector labels;
  std::vector<FieldTerm> fields;
  bool empty() const { return namespace_.empty() && labels.empty() && fields.empty(); }
  bool matches(const Json& object) const;
};

// Bad request names the selector or the field that this kind does not support.
ApiResult<ObjectFilter> parse_filter(const ResourceInfo& info, std::string ns,
                                     std::string_view label_selector,
                                     std::string_view field_selector);

model::StringMap labels_of(const Json& object);

}  // namespace millwright::sandbox
