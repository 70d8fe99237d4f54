// A forecast as a table and as JSON.

#include "app/tables/text_table.hpp"
#include "app/whatif/forecast.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace millwright::app {
namespace {

namespace json = boost::json;

std::string dollars(double price) {
  return fmt::format("${:.4f}/h", price);
}

std::string signed_dollars(double price, int digits) {
  return fmt::format("{}${:.{}f}", price < 0 ? '-' : '+', std::abs(price), digits);
}

std::string shown_count(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string price_of(const NodeLine& line) {
  return line.price ? dollars(*line.price) : "?";
}

std::string or_none(const std::string& text) {
  return text.empty() ? "-" : text;
}

// The first row has the headings.
std::string table(const std::vector<Row>& rows) {
  std::vector<Column> columns;
  for (const auto& heading : rows.front()) {
    columns.push_back({.heading = heading});
  }
  return text_table(columns, {std::next(rows.begin()), rows.end()}, {.indent = 2});
}

std::string nodes_removed(const Forecast& forecast) {
  std::map<std::string, std::size_t> causes;
  for (const auto& line : forecast.removed) {
    ++causes[line.why];
  }
  std::string text;
  for (const auto& [why, count] : causes) {
    text += (text.empty() ? " (" : ", ") + std::to_string(count) + " " + why;
  }
  return std::to_string(forecast.removed.size()) + " removed" + text + (text.empty() ? "" : ")");
}

std::size_t nodes_in(const std::vector<NodeLine>& lines) {
  std::size_t count = 0;
  for (const auto& line : lines) {
    count += line.nodes;
  }
  return count;
}

template <class Lines>
std::size_t pods_in(const Lines& lines) {
  std::size_t count = 0;
  for (const auto& line : lines) {
    count += line.pods;
  }
  return count;
}

void add_summary(std::string& text, const Forecast& forecast) {
  const double more = forecast.after.price - forecast.before.price;
  text += fmt::format(
      "Looked {} ahead from {}{}\n", base::format_human_duration(forecast.took),
      base::format_rfc3339(forecast.start),
      forecast.settled ? ": nothing moves any more." : ": the horizon, and something still moves.");
  text += fmt::format("  price  {} before, {} after: {}/h, {}/month\n",
                      dollars(forecast.before.price), dollars(forecast.after.price),
                      signed_dollars(more, 4), signed_dollars(more_per_month(forecast), 2));
  text += fmt::format("         {} without the changes, {}\n", dollars(forecast.unchanged.price),
                      shown_count(forecast.unchanged.nodes, "node"));
  text += fmt::format("  nodes  {} before, {} after: {} bought, {}, {} drifted\n",
                      forecast.before.nodes, forecast.after.nodes, nodes_in(forecast.bought),
                      nodes_removed(forecast), forecast.drifted);
  text +=
      fmt::format("  pods   {} running before, {} after: {} moved, {} refused, {} on their way\n",
                  forecast.before.running, forecast.after.running, pods_in(forecast.moved),
                  pods_in(forecast.refused), pods_in(forecast.waiting));
}

void add_nodes(std::string& text, const Forecast& forecast) {
  if (!forecast.bought.empty()) {
    std::vector<Row> rows{{"NODEPOOL", "TYPE", "ZONE", "CAPACITY", "NODES", "PODS", "EACH"}};
    for (const auto& line : forecast.bought) {
      rows.push_back({or_none(line.node_pool), or_none(line.instance_type), or_none(line.zone),
                      or_none(line.capacity_type), std::to_string(line.nodes),
                      std::to_string(line.pods), price_of(line)});
    }
    text += "Bought:\n" + table(rows);
  }
  if (!forecast.removed.empty()) {
    std::vector<Row> rows{{"NODE", "NODEPOOL", "TYPE", "ZONE", "CAPACITY", "WHY", "PRICE"}};
    for (const auto& line : forecast.removed) {
      rows.push_back({line.node, or_none(line.node_pool), or_none(line.instance_type),
                      or_none(line.zone), or_none(line.capacity_type), line.why, price_of(line)});
    }
    text += "Removed:\n" + table(rows);
  }
}

void add_workloads(std::string& text, const char* heading, const std::vector<WorkloadLine>& lines) {
  if (lines.empty()) {
    return;
  }
  std::vector<Row> rows{{"WORKLOAD", "PODS"}};
  for (const auto& line : lines) {
    rows.push_back({line.workload, std::to_string(line.pods)});
  }
  text.append(heading).append(":\n").append(table(rows));
}

json::value priced(const std::optional<double>& price) {
  return price ? json::value(*price) : json::value();
}

json::object json_of(const ClusterSize& size) {
  return {{"nodes", size.nodes},
          {"podsRunning", size.running},
          {"podsWaiting", size.waiting},
          {"pricePerHour", size.price},
          {"nodesWithoutPrice", size.without_price}};
}

json::array json_of(const std::vector<WorkloadLine>& lines) {
  json::array all;
  for (const auto& line : lines) {
    all.push_back(json::object{{"workload", line.workload}, {"pods", line.pods}});
  }
  return all;
}

json::object json_of(const NodeLine& line) {
  return {{"nodePool", line.node_pool},
          {"instanceType", line.instance_type},
          {"zone", line.zone},
          {"capacityType", line.capacity_type},
          {"pricePerHour", priced(line.price)}};
}

}  // namespace

std::string to_text(const Forecast& forecast) {
  std::string text;
  add_summary(text, forecast);
  add_nodes(text, forecast);
  add_workloads(text, "Moved", forecast.moved);
  if (!forecast.refused.empty()) {
    text += "Refused:\n";
  }
  for (const auto& line : forecast.refused) {
    text += fmt::format("  {}, {}, such as {}: {}\n", line.workload, shown_count(line.pods, "pod"),
                        line.pod, line.why.reason);
    if (!line.why.remedy.empty()) {
      text += fmt::format("    Change  {} (tried out: {} then goes on {})\n", line.why.remedy,
                          line.pods == 1 ? "it" : "one of them", line.why.then);
    }
  }
  add_workloads(text, "On their way", forecast.waiting);
  if (forecast.before.without_price > 0) {
    text += fmt::format(
        "Note: {} without a price, of types that are not in the catalog of their zone\n",
        shown_count(forecast.before.without_price, "node"));
  }
  for (const auto& note : forecast.notes) {
    text += "Note: " + note + "\n";
  }
  return text;
}

std::string to_json(const Forecast& forecast) {
  json::array bought;
  for (const auto& line : forecast.bought) {
    auto object = json_of(line);
    object["nodes"] = line.nodes;
    object["pods"] = line.pods;
    bought.push_back(std::move(object));
  }
  json::array removed;
  for (const auto& line : forecast.removed) {
    auto object = json_of(line);
    object["node"] = line.node;
    object["why"] = line.why;
    removed.push_back(std::move(object));
  }
  json::array refused;
  for (const auto& line : forecast.refused) {
    json::object object{{"workload", line.workload},
                        {"pod", line.pod},
                        {"pods", line.pods},
                        {"reason", line.why.reason}};
    if (!line.why.remedy.empty()) {
      object["change"] = line.why.remedy;
      object["thenOn"] = line.why.then;
    }
    refused.push_back(std::move(object));
  }
  json::array notes;
  for (const auto& note : forecast.notes) {
    notes.emplace_back(note);
  }
  const json::object all{{"start", base::format_rfc3339(forecast.start)},
                         {"seconds", std::chrono::duration<double>(forecast.took).count()},
                         {"settled", forecast.settled},
                         {"before", json_of(forecast.before)},
                         {"withoutChanges", json_of(forecast.unchanged)},
                         {"after", json_of(forecast.after)},
                         {"pricePerHourMore", forecast.after.price - forecast.before.price},
                         {"pricePerMonthMore", more_per_month(forecast)},
                         {"nodesDrifted", forecast.drifted},
                         {"nodesBoughtAndGone", forecast.bought_and_gone},
                         {"bought", std::move(bought)},
                         {"removed", std::move(removed)},
                         {"podsMoved", json_of(forecast.moved)},
                         {"podsRefused", std::move(refused)},
                         {"podsOnTheirWay", json_of(forecast.waiting)},
                         {"notes", std::move(notes)}};
  return json::serialize(all) + "\n";
}

}  // namespace millwright::app
