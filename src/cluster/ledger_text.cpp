// The mirror annotations' text: small JSON documents that kubectl users can read.
#include "millwright/cluster/ledger.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace millwright::cluster {
namespace {

using base::ErrorKind;
using scheduling::HoldKind;

// A hold's kind is written before its pod's uid. Running clusters have such annotations: the text
// must not change.
struct KindPrefix {
  HoldKind kind;
  std::string_view prefix;
};
// Longest first: one begins with another.
constexpr KindPrefix kKindPrefixes[] = {{HoldKind::Buffer, "successor-of/capacity-buffer/"},
                                        {HoldKind::Successor, "successor-of/"},
                                        {HoldKind::Pod, ""}};

std::string encode_id(const scheduling::Hold& hold) {
  const auto* const found =
      std::find_if(std::begin(kKindPrefixes), std::end(kKindPrefixes),
                   [&](const KindPrefix& each) { return each.kind == hold.kind; });
  return std::string(found->prefix) + hold.pod_uid;
}

scheduling::HoldId decode_id(std::string_view text) {
  const auto* const found =
      std::find_if(std::begin(kKindPrefixes), std::end(kKindPrefixes),
                   [&](const KindPrefix& each) { return text.starts_with(each.prefix); });
  return {found->kind, std::string(text.substr(found->prefix.size()))};
}

base::Result<boost::json::value> parse(std::string_view text, std::string_view what) {
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = 8;
  boost::json::value json =
      boost::json::parse(boost::json::string_view(text.data(), text.size()), error, {}, options);
  if (error) {
    return base::fail(ErrorKind::Invalid, std::string(what) + " is not JSON: " + error.message());
  }
  return json;
}

base::Result<std::string> text_field(const boost::json::object& object, std::string_view name,
                                     const std::string& where) {
  const std::string_view text = model::as_text(object.if_contains(name));
  if (text.empty()) {
    return base::fail(ErrorKind::Invalid,
                      where + "." + std::string(name) + " must be a text that is not empty");
  }
  return std::string(text);
}

base::Result<base::TimePoint> time_field(const boost::json::object& object, std::string_view name,
                                         const std::string& where) {
  MW_TRY(text, text_field(object, name, where));
  const auto time = base::parse_rfc3339(text);
  if (!time) {
    return base::fail(ErrorKind::Invalid,
                      where + "." + std::string(name) + " must be an RFC 3339 time");
  }
  return *time;
}

base::Result<model::ResourceList> requests_field(const boost::json::object& object,
                                                 const std::string& where) {
  model::ResourceList requests;
  const boost::json::value* const field = object.if_contains("requests");
  if (field == nullptr) {
    return requests;
  }
  if (!field->is_object()) {
    return base::fail(ErrorKind::Invalid, where + ".requests must be an object");
  }
  for (const auto& [name, value] : field->get_object()) {
    if (!value.is_string()) {
      return base::fail(ErrorKind::Invalid,
                        where + ".requests." + std::string(name) + " must be a quantity text");
    }
    auto quantity = model::Quantity::parse(model::as_text(&value));
    if (!quantity) {
      return base::with_context(where + ".requests." + std::string(name), quantity.error());
    }
    requests.insert_or_assign(std::string(name), *quantity);
  }
  return requests;
}

base::Result<scheduling::Hold> decode_hold(const boost::json::value& json,
                                           const std::string& where) {
  if (!json.is_object()) {
    return base::fail(ErrorKind::Invalid, where + " must be an object");
  }
  const boost::json::object& object = json.get_object();
  scheduling::Hold hold;
  MW_TRY(pod, text_field(object, "pod", where));
  const std::size_t slash = pod.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == pod.size()) {
    return base::fail(ErrorKind::Invalid, where + ".pod must be \"namespace/name\"");
  }
  hold.pod = model::ObjectKey{pod.substr(0, slash), pod.substr(slash + 1)};
  MW_TRY(uid, text_field(object, "uid", where));
  scheduling::HoldId id = decode_id(uid);
  hold.kind = id.kind;
  hold.pod_uid = std::move(id.pod_uid);
  MW_TRY(requests, requests_field(object, where));
  hold.requests = std::move(requests);
  MW_TRY(deadline, time_field(object, "deadline", where));
  hold.deadline = deadline;
  if (object.contains("owner")) {
    MW_TRY(owner, text_field(object, "owner", where));
    hold.owner_uid = std::move(owner);
  }
  if (const boost::json::value* const priority = object.if_contains("priority")) {
    if (!priority->is_int64() || priority->get_int64() < std::numeric_limits<std::int32_t>::min() ||
        priority->get_int64() > std::numeric_limits<std::int32_t>::max()) {
      return base::fail(ErrorKind::Invalid, where + ".priority must be a 32-bit integer");
    }
    hold.priority = static_cast<std::int32_t>(priority->get_int64());
  }
  return hold;
}

}  // namespace

std::string encode_holds(const std::vector<scheduling::Hold>& holds) {
  std::map<std::string, const scheduling::Hold*> sorted;
  for (const scheduling::Hold& hold : holds) {
    sorted.emplace(encode_id(hold), &hold);
  }
  boost::json::array array;
  array.reserve(sorted.size());
  for (const auto& [id, hold] : sorted) {
    boost::json::object requests;
    for (const auto& [name, quantity] : hold->requests) {
      requests.emplace(name, quantity.to_string());
    }
    boost::json::object& entry = array
                                     .emplace_back(boost::json::object{
                                         {"pod", hold->pod.namespace_ + "/" + hold->pod.name},
                                         {"uid", id},
                                         {"requests", std::move(requests)},
                                         {"priority", hold->priority},
                                         {"deadline", base::format_rfc3339_micro(hold->deadline)},
                                     })
                                     .as_object();
    if (!hold->owner_uid.empty()) {
      entry.emplace("owner", hold->owner_uid);
    }
  }
  return boost::json::serialize(array);
}

base::Result<std::vector<scheduling::Hold>> decode_holds(std::string_view text,
                                                         std::string_view target) {
  MW_TRY(json, parse(text, "holds of " + std::string(target)));
  if (!json.is_array()) {
    return base::fail(ErrorKind::Invalid,
                      "holds of " + std::string(target) + " must be a JSON array");
  }
  std::vector<scheduling::Hold> holds;
  for (const boost::json::value& item : json.get_array()) {
    const std::string where =
        "holds of " + std::string(target) + "[" + std::to_string(holds.size()) + "]";
    MW_TRY(hold, decode_hold(item, where));
    hold.target = target;
    holds.push_back(std::move(hold));
  }
  std::sort(holds.begin(), holds.end(),
            [](const auto& a, const auto& b) { return a.id() < b.id(); });
  const auto twice = std::adjacent_find(
      holds.begin(), holds.end(), [](const auto& a, const auto& b) { return a.id() == b.id(); });
  if (twice != holds.end()) {
    return base::fail(ErrorKind::Invalid, "holds of " + std::string(target) + " name the pod uid " +
                                              encode_id(*twice) + " twice");
  }
  return holds;
}

std::string encode_fence(const Fence& fence) {
  return boost::json::serialize(boost::json::object{
      {"reason", fence.reason}, {"since", base::format_rfc3339_micro(fence.since)}});
}

base::Result<Fence> decode_fence(std::string_view text, std::string_view node) {
  const std::string where = "fence of " + std::string(node);
  MW_TRY(json, parse(text, where));
  if (!json.is_object()) {
    return base::fail(ErrorKind::Invalid, where + " must be a JSON object");
  }
  Fence fence;
  fence.node = node;
  MW_TRY(reason, text_field(json.get_object(), "reason", where));
  fence.reason = std::move(reason);
  MW_TRY(since, time_field(json.get_object(), "since", where));
  fence.since = since;
  return fence;
}

}  // namespace millwright::cluster
