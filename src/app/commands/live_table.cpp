#include "app/commands/live_table.hpp"

#include <array>
#include <cstdio>
#include <map>

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

}  // namespace

std::string live_table(const sandbox::LiveView& view, base::TimePoint begun) {
  std::string text = "  t+" + padded(base::format_human_duration(view.now - begun), 8) +
                     "pods: " + pods_text(view) +
                     "    nodes: " + std::to_string(view.nodes.size()) +
                     (view.claims_without_node > 0
                          ? " (+" + std::to_string(view.claims_without_node) + " on the way)"
                          : "") +
                     "    " + number("$%.3f/h", view.price_per_hour) + "\n";
  if (view.nodes.empty()) {
    return text;
  }
  text += "  " + padded("NODE", 34) + padded("TYPE", 16) + padded("ZONE", 15) +
          padded("CAPACITY", 11) + padded("STATE", 10) + padded("PODS", 6) + padded("CPU", 12) +
          padded("$/H", 9) + "AGE\n";
  for (const auto& node : view.nodes) {
    text += "  " + padded(node.name, 34) + padded(node.instance_type, 16) + padded(node.zone, 15) +
            padded(node.capacity_type, 11) + padded(node.state, 10) +
            padded(std::to_string(node.pods), 6) +
            padded(number("%.1f", node.cpu_requested) + "/" + number("%.0f", node.cpu), 12) +
            padded(node.price ? number("%.4f", *node.price) : "?", 9) +
            base::format_human_duration(node.age) + "\n";
  }
  return text;
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
