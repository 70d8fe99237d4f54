// A view of the cluster as JSON, and back.
#include "app/top/cluster_view.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/model/json_fields.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace millwright::app {
namespace {

namespace json = boost::json;

double seconds_of(base::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

json::object json_of(const NodeRow& row) {
  json::object node{{"name", row.name},
                    {"nodePool", row.node_pool},
                    {"instanceType", row.instance_type},
                    {"zone", row.zone},
                    {"capacityType", row.capacity_type},
                    {"state", row.state},
                    {"cpu", row.cpu},
                    {"cpuRequested", row.cpu_requested},
                    {"memory", row.memory},
                    {"memoryRequested", row.memory_requested},
                    {"pods", row.pods},
                    {"podsReserved", row.kept}};
  if (row.price) {
    node["pricePerHour"] = *row.price;
  }
  if (row.age) {
    node["ageSeconds"] = seconds_of(*row.age);
  }
  return node;
}

std::string text_in(const json::value& object, std::string_view name) {
  return std::string(model::as_text(model::member(object, name)));
}

// Of what is a sensible amount; anything else is not there.
std::optional<double> amount_in(const json::value& object, std::string_view name) {
  constexpr double kMost = 1e15;
  const auto* value = model::member(object, name);
  if (value == nullptr || !value->is_number()) {
    return std::nullopt;
  }
  const auto amount = value->to_number<double>();
  return amount >= 0 && amount < kMost ? std::optional(amount) : std::nullopt;
}

std::size_t number_in(const json::value& object, std::string_view name) {
  return static_cast<std::size_t>(amount_in(object, name).value_or(0));
}

std::optional<base::Duration> time_in(const json::value& object, std::string_view name) {
  constexpr double kMost = 1e9;  // seconds: 30 years
  const auto seconds = amount_in(object, name);
  return seconds ? std::optional(std::chrono::duration_cast<base::Duration>(
                       std::chrono::duration<double>(std::min(*seconds, kMost))))
                 : std::nullopt;
}

NodeRow parse_row(const json::value& object) {
  NodeRow row;
  row.name = text_in(object, "name");
  row.node_pool = text_in(object, "nodePool");
  row.instance_type = text_in(object, "instanceType");
  row.zone = text_in(object, "zone");
  row.capacity_type = text_in(object, "capacityType");
  row.state = text_in(object, "state");
  row.cpu = amount_in(object, "cpu").value_or(0);
  row.cpu_requested = amount_in(object, "cpuRequested").value_or(0);
  row.memory = amount_in(object, "memory").value_or(0);
  row.memory_requested = amount_in(object, "memoryRequested").value_or(0);
  row.pods = number_in(object, "pods");
  row.kept = number_in(object, "podsReserved");
  row.price = amount_in(object, "pricePerHour");
  row.age = time_in(object, "ageSeconds");
  return row;
}

const json::array& items_in(const json::value& object, std::string_view name) {
  static const json::array kNothing;
  const auto* value = model::member(object, name);
  const auto* list = value == nullptr ? nullptr : value->if_array();
  return list == nullptr ? kNothing : *list;
}

}  // namespace

std::string to_json(const ClusterView& view) {
  json::array pools;
  for (const auto& name : view.node_pools) {
    pools.emplace_back(name);
  }
  double price = 0;
  json::array nodes;
  for (const auto& row : view.nodes) {
    price += row.price.value_or(0);
    nodes.push_back(json_of(row));
  }
  json::array waiting;
  for (const auto& row : view.waiting) {
    waiting.push_back(json::object{{"pod", row.pod},
                                   {"pods", row.pods},
                                   {"sinceSeconds", seconds_of(row.since)},
                                   {"why", row.why}});
  }
  return json::serialize(json::object{{"time", base::format_rfc3339(view.time)},
                                      {"pricePerHour", price},
                                      {"nodePools", std::move(pools)},
                                      {"nodes", std::move(nodes)},
                                      {"podsWaiting", view.pods_waiting},
                                      {"waiting", std::move(waiting)}}) +
         "\n";
}

base::Result<ClusterView> parse_cluster_view(std::string_view text) {
  MW_TRY(object, model::parse_json(text));
  const auto time = base::parse_rfc3339(text_in(object, "time"));
  if (!time) {
    return base::fail(base::ErrorKind::Invalid, "time: is missing; this is no view of a cluster");
  }
  ClusterView view;
  view.time = *time;
  for (const auto& name : items_in(object, "nodePools")) {
    view.node_pools.emplace_back(model::as_text(&name));
  }
  for (const auto& node : items_in(object, "nodes")) {
    view.nodes.push_back(parse_row(node));
  }
  view.pods_waiting = number_in(object, "podsWaiting");
  for (const auto& row : items_in(object, "waiting")) {
    view.waiting.push_back({.pod = text_in(row, "pod"),
                            .pods = number_in(row, "pods"),
                            .since = time_in(row, "sinceSeconds").value_or(base::Duration{}),
                            .why = text_in(row, "why")});
  }
  return view;
}

}  // namespace millwright::app
