#include "scheduling/values/signature.hpp"

namespace millwright::scheduling {

void append_signature(std::string& text, const Requirement& requirement) {
  text.append(requirement.key()).push_back('\x1f');
  text.append(model::to_string(requirement.op())).append(requirement.admits_absence() ? "?" : "!");
  for (const auto& value : requirement.values()) {
    text.append(1, '\x1e').append(value);
  }
  if (requirement.gte()) {
    text.append("\x1d>").append(std::to_string(*requirement.gte()));
  }
  if (requirement.lte()) {
    text.append("\x1d<").append(std::to_string(*requirement.lte()));
  }
  if (requirement.min_values()) {
    text.append("\x1dm").append(std::to_string(*requirement.min_values()));
  }
  text.push_back('\n');
}

void append_signature(std::string& text, const Requirements& requirements) {
  for (const Requirement& requirement : requirements) {
    append_signature(text, requirement);
  }
}

}  // namespace millwright::scheduling
