#include "scheduling/devices/device_queries.hpp"

#include <algorithm>
#include <utility>

namespace millwright::scheduling {
namespace {

constexpr std::size_t kLongestName = 120;

std::string query_name(const model::DeviceClass& device_class,
                       const std::vector<std::string>& selectors) {
  std::string name = device_class.meta.name;
  for (const std::string& selector : selectors) {
    name += (&selector == &selectors.front() ? " with " : " and ") + selector;
  }
  if (name.size() > kLongestName) {
    name.resize(kLongestName);
    name += "...";
  }
  return name;
}

// A device that only a part of pods can have, or that several may share: how many pods it serves
// depends on more than its number.
bool is_planned(const model::Device& device) {
  return !device.consumes_counters && !device.multiple_allocations && !device.tainted &&
         !device.chooses_nodes;
}

}  // namespace

base::Result<std::size_t> DeviceQueries::add(const model::DeviceClass& device_class,
                                             const std::vector<std::string>& selectors) {
  std::string text;
  for (const auto* list : {&device_class.selectors, &selectors}) {
    for (const std::string& expression : *list) {
      text += expression;
      text += '\n';
    }
  }
  if (const auto known = by_text_.find(text); known != by_text_.end()) {
    return known->second;
  }
  if (queries_.size() == kMost) {
    return base::fail(base::ErrorKind::Invalid, "more than " + std::to_string(kMost) +
                                                    " different kinds of device are asked for");
  }
  std::vector<model::DeviceSelector> query;
  for (const auto* list : {&device_class.selectors, &selectors}) {
    for (const std::string& expression : *list) {
      auto selector = model::DeviceSelector::parse(expression);
      if (!selector) {
        return base::with_context(list == &selectors
                                      ? "a selector"
                                      : "a selector of DeviceClass " + device_class.meta.name,
                                  std::move(selector).error());
      }
      query.push_back(*std::move(selector));
    }
  }
  std::string name = query_name(device_class, selectors);
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    // Long ones may have the same beginning.
    name += " (" + std::to_string(names_.size() + 1) + ")";
  }
  names_.push_back(std::move(name));
  queries_.push_back(std::move(query));
  troubles_.emplace_back();
  text_ += text;
  text_ += '\n';
  by_text_.emplace(std::move(text), queries_.size() - 1);
  return queries_.size() - 1;
}

DeviceQueries::Answer DeviceQueries::ask(std::size_t query, std::string_view driver,
                                         const model::Device& device) {
  for (const model::DeviceSelector& selector : queries_[query]) {
    const auto matches = selector.matches(driver, device);
    if (!matches) {
      troubles_[query] = troubles_[query].empty() ? matches.error().message : troubles_[query];
      return Answer::Broken;
    }
    if (!*matches) {
      return Answer::No;
    }
  }
  return Answer::Yes;
}

void DeviceQueries::note(const std::vector<std::string>& troubles) {
  for (std::size_t i = 0; i < troubles.size(); ++i) {
    troubles_[i] = troubles_[i].empty() ? troubles[i] : troubles_[i];
  }
}

std::vector<QueryMask> DeviceQueries::masks(
    const std::vector<std::pair<std::string_view, const model::Device*>>& drivers_and_devices) {
  std::vector<QueryMask> result;
  QueryMask broken = 0;
  for (const auto& [driver, device] : drivers_and_devices) {
    QueryMask mask = 0;
    for (std::size_t i = 0; i < queries_.size(); ++i) {
      const Answer answer = ask(i, driver, *device);
      mask |= static_cast<QueryMask>(answer == Answer::Yes) << i;
      broken |= static_cast<QueryMask>(answer == Answer::Broken) << i;
    }
    result.push_back(is_planned(*device) ? mask : 0);
  }
  for (QueryMask& mask : result) {
    mask &= ~broken;
  }
  return result;
}

}  // namespace millwright::scheduling
