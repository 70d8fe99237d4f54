// A view of the cluster as text.
#include "app/top/cluster_view.hpp"

#include <fmt/format.h>

#include <map>

namespace millwright::app {
namespace {

// One NodePool, or the nodes without one.
struct PoolSum {
  std::size_t nodes = 0;
  std::size_t coming = 0;
  std::size_t fenced = 0;
  std::size_t without_price = 0;
  std::size_t pods = 0;
  std::size_t kept = 0;
  double cpu = 0;
  double cpu_requested = 0;
  double memory = 0;
  double memory_requested = 0;
  double price = 0;

  void add(const NodeRow& row) {
    ++(row.state == kComing ? coming : nodes);
    fenced += row.state == kFenced ? 1 : 0;
    without_price += row.price ? 0 : 1;
    pods += row.pods;
    kept += row.kept;
    cpu += row.cpu;
    cpu_requested += row.cpu_requested;
    memory += row.memory;
    memory_requested += row.memory_requested;
    price += row.price.value_or(0);
  }
};

std::string pool_table(const ClusterView& view, const TableLayout& layout) {
  std::map<std::string, PoolSum> pools;
  for (const auto& name : view.node_pools) {
    pools[name];
  }
  for (const auto& row : view.nodes) {
    pools[row.node_pool].add(row);
  }
  if (pools.empty()) {
    return {};
  }
  const std::vector<Column> columns{{.heading = "NODEPOOL", .shrinks = true},
                                    {.heading = "NODES"},
                                    {.heading = "COMING"},
                                    {.heading = "FENCED"},
                                    {.heading = "PODS"},
                                    {.heading = "KEPT"},
                                    {.heading = "CPU"},
                                    {.heading = "MEM"},
                                    {.heading = "$/H"}};
  std::vector<Row> rows;
  for (const auto& [name, sum] : pools) {
    rows.push_back({name.empty() ? "(none)" : name, std::to_string(sum.nodes),
                    count_text(sum.coming), count_text(sum.fenced), std::to_string(sum.pods),
                    count_text(sum.kept), fill_text(sum.cpu_requested, sum.cpu),
                    fill_text(sum.memory_requested, sum.memory), fmt::format("{:.4f}", sum.price)});
  }
  return "\n" + text_table(columns, rows, layout);
}

std::string waiting_table(const ClusterView& view, const TableLayout& layout) {
  if (view.waiting.empty()) {
    return {};
  }
  const std::vector<Column> columns{{.heading = "WAITING", .shrinks = true},
                                    {.heading = "PODS"},
                                    {.heading = "SINCE"},
                                    {.heading = "WHY", .shrinks = true}};
  std::vector<Row> rows;
  for (const auto& row : view.waiting) {
    rows.push_back(
        {row.pod, std::to_string(row.pods), base::format_human_duration(row.since), row.why});
  }
  return "\n" + text_table(columns, rows, layout);
}

std::string count_of_things(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string summary(const ClusterView& view, std::size_t width) {
  PoolSum all;
  for (const auto& row : view.nodes) {
    all.add(row);
  }
  std::string first =
      fmt::format("{}  {}", base::format_rfc3339(view.time), count_of_things(all.nodes, "node"));
  first += all.coming > 0 ? fmt::format(" (+{} coming)", all.coming) : "";
  first += all.fenced > 0 ? fmt::format(", {} fenced", all.fenced) : "";
  first += fmt::format("  ${:.4f}/h", all.price);
  first += all.without_price > 0 ? fmt::format(" + {} without a price", all.without_price) : "";
  const std::string second =
      fmt::format("{} on nodes, room kept for {}, {} waiting", count_of_things(all.pods, "pod"),
                  all.kept, view.pods_waiting);
  return one_line(first, width) + "\n" + one_line(second, width) + "\n";
}

}  // namespace

std::string to_text(const ClusterView& view, std::size_t width) {
  const TableLayout layout{.indent = 0, .width = width};
  std::string text = summary(view, width) + pool_table(view, layout);
  text += view.nodes.empty() ? one_line("No nodes.", width) + "\n"
                             : "\n" + node_table(view.nodes, layout);
  return text + waiting_table(view, layout);
}

}  // namespace millwright::app
