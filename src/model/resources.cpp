#include "millwright/model/resources.hpp"

#include <algorithm>

namespace millwright::model {

Quantity get(const ResourceList& list, std::string_view name) {
  const auto found = list.find(name);
  return found == list.end() ? Quantity() : found->second;
}

void add_to(ResourceList& total, const ResourceList& more) {
  for (const auto& [name, quantity] : more) {
    total[name] += quantity;
  }
}

ResourceList multiplied(const ResourceList& list, std::int64_t times) {
  ResourceList result = list;
  for (auto& [name, quantity] : result) {
    quantity *= times;
  }
  return result;
}

void subtract_from(ResourceList& total, const ResourceList& less) {
  for (const auto& [name, quantity] : less) {
    total[name] -= quantity;
  }
}

void max_into(ResourceList& total, const ResourceList& other) {
  for (const auto& [name, quantity] : other) {
    const auto [entry, inserted] = total.emplace(name, quantity);
    if (!inserted && entry->second < quantity) {
      entry->second = quantity;
    }
  }
}

bool fits(const ResourceList& requested, const ResourceList& total) {
  const auto is_negative = [](const auto& entry) { return entry.second < Quantity(); };
  return std::none_of(total.begin(), total.end(), is_negative) &&
         std::all_of(requested.begin(), requested.end(), [&total](const auto& entry) {
           return entry.second <= get(total, entry.first);
         });
}

std::string to_string(const ResourceList& list) {
  std::string text = "{";
  for (const auto& [name, quantity] : list) {
    if (text.size() > 1) {
      text += ", ";
    }
    text.append(name).append(": ").append(quantity.to_string());
  }
  return text + "}";
}

}  // namespace millwright::model
