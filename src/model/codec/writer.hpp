// Building JSON objects the way Go's "omitempty" does: what is empty is left out.
#pragma once

#include "millwright/model/meta.hpp"
#include "millwright/model/pod.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::model::detail {

// Text values of condition status, as the API has them.

void put(boost::json::object& to, std::string_view key, const std::string& text);
void put(boost::json::object& to, std::string_view key, const std::optional<base::TimePoint>& time);
void put(boost::json::object& to, std::string_view key, const std::optional<std::int64_t>& number);
void put(boost::json::object& to, std::string_view key, const std::optional<std::int32_t>& number);
void put(boost::json::object& to, std::string_view key, const std::vector<std::string>& list);
// Objects and lists that are empty, and null, are left out.
void put(boost::json::object& to, std::string_view key, boost::json::value value);
// True only.
void put_flag(boost::json::object& to, std::string_view key, bool flag);
// Unless zero.
void put_number(boost::json::object& to, std::string_view key, std::int64_t number);

template <class T, class F>
boost::json::array list_of(const std::vector<T>& items, F encode_one) {
  boost::json::array list;
  list.reserve(items.size());
  for (const T& item : items) {
    list.push_back(encode_one(item));
  }
  return list;
}

boost::json::value encode_meta(const ObjectMeta& meta);
boost::json::value encode_taint(const Taint& taint);
boost::json::value encode_requirement(const SelectorRequirement& requirement);
// core/v1 conditions leave an empty reason and message out; metav1.Condition requires both.
boost::json::value encode_core_conditions(const std::vector<Condition>& conditions);
boost::json::value encode_node_term(const NodeSelectorTerm& term);
boost::json::value encode_resources(const ResourceList& requests, const ResourceList& limits);
boost::json::value encode_pod_spec(const PodSpec& spec);

}  // namespace millwright::model::detail
