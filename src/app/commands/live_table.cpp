#include "app/commands/live_table.hpp"

#include "app/tables/node_table.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

namespace millwright::app {
namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() > width) {
    text.resize(width - 1);
    text += '~';
  }
  text.resize(width, ' ');
  return text;
}

std::string number(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string pods_text(const sandbox::LiveView& view) {
  return std::to_string(view.pods_running) + " running, " + std::to_string(view.pods_pending) +
         " pending" +
         (view.pods_ending > 0 ? ", " + std::to_string(view.pods_ending) + " ending" : "");
}

std::vector<NodeRow> rows_of(const sandbox::LiveView& view) {
  std::vector<NodeRow> rows;
  for (const auto& node : view.nodes) {
    NodeRow row;
    row.name = node.name;
    row.instance_type = node.instance_type;
    row.zone = node.zone;
    row.capacity_type = node.capacity_type;
    row.state = node.state;
    row.cpu = node.cpu;
    row.cpu_requested = node.cpu_requested;
    row.pods = node.pods;
    row.price = node.price;
    row.age = node.age;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string live_table(const sandbox::LiveView& view, base::TimePoint begun, std::size_t width) {
  std::string text = "  t+" + padded(base::format_human_duration(view.now - begun), 8) +
                     "pods: " + pods_text(view) +
                     "    nodes: " + std::to_string(view.nodes.size()) +
                     (view.claims_without_node > 0
                          ? " (+" + std::to_string(view.claims_without_node) + " on the way)"
                          : "") +
                     "    " + number("$%.3f/h", view.price_per_hour) + "\n";
  return view.nodes.empty() ? text
                            : text + node_table(rows_of(view), {.indent = 2, .width = width});
}

std::string live_line(const sandbox::LiveView& view, base::TimePoint begun) {
  std::map<std::string, int> types;
  for (const auto& node : view.nodes) {
    ++types[node.instance_type + (node.state == "Ready" ? "" : " " + node.state)];
  }
  std::string nodes;
  for (const auto& [type, count] : types) {
    nodes += (nodes.empty() ? "" : ", ") + std::to_string(count) + " x " + type;
  }
  return "  t+" + padded(base::format_human_duration(view.now - begun), 8) + pods_text(view) +
         "; nodes: " + (nodes.empty() ? "none" : nodes) + "; " +
         number("$%.3f/h", view.price_per_hour) + "\n";
}

}  // namespace millwright::app
