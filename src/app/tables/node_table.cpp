#include "app/tables/node_table.hpp"

#include <fmt/format.h>

#include <cmath>

namespace millwright::app {

std::string fill_text(double requested, double capacity) {
  return capacity > 0 ? fmt::format("{}%", std::lround(100 * requested / capacity)) : "";
}

std::string count_text(std::size_t count) {
  return count == 0 ? "" : std::to_string(count);
}

std::string node_table(const std::vector<NodeRow>& rows, const TableLayout& layout) {
  const std::vector<Column> columns{{.heading = "NODE", .shrinks = true},
                                    {.heading = "POOL", .shrinks = true},
                                    {.heading = "TYPE", .shrinks = true},
                                    {.heading = "ZONE", .optional = true},
                                    {.heading = "CAPACITY", .optional = true},
                                    {.heading = "STATE"},
                                    {.heading = "PODS"},
                                    {.heading = "KEPT"},
                                    {.heading = "CPU"},
                                    {.heading = "MEM"},
                                    {.heading = "$/H"},
                                    {.heading = "AGE"}};
  std::vector<Row> cells;
  for (const auto& node : rows) {
    cells.push_back({node.name, node.node_pool, node.instance_type, node.zone, node.capacity_type,
                     node.state, std::to_string(node.pods), count_text(node.kept),
                     fmt::format("{:.1f}/{:.0f}", node.cpu_requested, node.cpu),
                     fill_text(node.memory_requested, node.memory),
                     node.price ? fmt::format("{:.4f}", *node.price) : "?",
                     node.age ? base::format_human_duration(*node.age) : ""});
  }
  return text_table(columns, cells, layout);
}

}  // namespace millwright::app
