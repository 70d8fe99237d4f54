// The mirror annotations' text: small JSON documents that kubectl users can read.
#include "millwright/cluster/ledger.hpp"
#include "millwright/model/json_fields.hpp"
#include "millwright/model/workload.hpp"

#include <boost/json.hpp>

#include <limits>
#include <map>
#include <utility>

namespace millwright::cluster {
namespace {

using base::ErrorKind;
using scheduling::Reservation;

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

base::Result<std::int32_t> number_field(const boost::json::object& object, std::string_view name,
                                        const std::string& where) {
  const boost::json::value* const field = object.if_contains(name);
  if (field == nullptr || !field->is_int64() ||
      field->get_int64() < std::numeric_limits<std::int32_t>::min() ||
      field->get_int64() > std::numeric_limits<std::int32_t>::max()) {
    return base::fail(ErrorKind::Invalid,
                      where + "." + std::string(name) + " must be a 32-bit integer");
  }
  return static_cast<std::int32_t>(field->get_int64());
}

base::Result<Reservation> decode_reservation(const boost::json::value& json,
                                             const std::string& where) {
  if (!json.is_object()) {
    return base::fail(ErrorKind::Invalid, where + " must be an object");
  }
  const boost::json::object& object = json.get_object();
  Reservation reservation;
  MW_TRY(group, text_field(object, "group", where));
  const std::size_t slash = group.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == group.size()) {
    return base::fail(ErrorKind::Invalid,
                      where + ".group must be \"<uid of the controller>/<fingerprint>\"");
  }
  reservation.group = scheduling::GroupId(std::move(group));
  reservation.of_buffer = reservation.group.is_whole_owner();
  MW_TRY(pod, text_field(object, "pod", where));
  const std::size_t end = pod.find('/');
  if (end == std::string::npos || end == 0 || end + 1 == pod.size()) {
    return base::fail(ErrorKind::Invalid, where + ".pod must be \"namespace/name\"");
  }
  reservation.sample = model::ObjectKey{pod.substr(0, end), pod.substr(end + 1)};
  MW_TRY(count, number_field(object, "count", where));
  if (count <= 0) {
    return base::fail(ErrorKind::Invalid, where + ".count must be above 0");
  }
  if (count > model::kMostPods) {
    return base::fail(ErrorKind::Invalid,
                      where + ".count must be at most " + std::to_string(model::kMostPods));
  }
  reservation.count = count;
  MW_TRY(requests, requests_field(object, where));
  reservation.requests = std::move(requests);
  MW_TRY(until, time_field(object, "until", where));
  reservation.until = until;
  if (object.contains("priority")) {
    MW_TRY(priority, number_field(object, "priority", where));
    reservation.priority = priority;
  }
  return reservation;
}

}  // namespace

std::string encode_reservations(const std::vector<Reservation>& reservations) {
  std::map<scheduling::GroupId, const Reservation*> sorted;
  for (const Reservation& reservation : reservations) {
    sorted.emplace(reservation.group, &reservation);
  }
  boost::json::array array;
  array.reserve(sorted.size());
  for (const auto& [group, reservation] : sorted) {
    boost::json::object requests;
    for (const auto& [name, quantity] : reservation->requests) {
      requests.emplace(name, quantity.to_string());
    }
    array.push_back(boost::json::object{
        {"group", group.text()},
        {"count", reservation->count},
        {"pod", reservation->sample.to_string()},
        {"requests", std::move(requests)},
        {"priority", reservation->priority},
        {"until", base::format_rfc3339_micro(reservation->until)},
    });
  }
  return boost::json::serialize(array);
}

base::Result<std::vector<Reservation>> decode_reservations(std::string_view text,
                                                           std::string_view target) {
  const std::string what = "reservations of " + std::string(target);
  MW_TRY(json, parse(text, what));
  if (!json.is_array()) {
    return base::fail(ErrorKind::Invalid, what + " must be a JSON array");
  }
  std::map<scheduling::GroupId, Reservation> sorted;
  std::size_t index = 0;
  for (const boost::json::value& item : json.get_array()) {
    const std::string where = what + "[" + std::to_string(index++) + "]";
    MW_TRY(reservation, decode_reservation(item, where));
    reservation.target = target;
    const scheduling::GroupId group = reservation.group;
    const bool added = sorted.emplace(group, std::move(reservation)).second;
    if (!added) {
      return base::fail(ErrorKind::Invalid, what + " name the group " + group.text() + " twice");
    }
  }
  std::vector<Reservation> reservations;
  for (auto& [group, reservation] : sorted) {
    reservations.push_back(std::move(reservation));
  }
  return reservations;
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
