// The table of nodes, as `millwright top` and the sandbox print it.
#pragma once

#include "app/tables/text_table.hpp"
#include "millwright/base/time.hpp"

#include <optional>
#include <string>
#include <vector>

namespace millwright::app {

struct NodeRow {
  std::string name;
  std::string node_pool;  // empty: unmanaged, or not shown
  std::string instance_type;
  std::string zone;
  std::string capacity_type;
  std::string state;
  double cpu = 0;  // vCPU
  double cpu_requested = 0;
  double memory = 0;  // bytes; 0: not known
  double memory_requested = 0;
  std::size_t pods = 0;
  std::size_t kept = 0;         // pods that room is reserved for
  std::optional<double> price;  // per hour
  std::optional<base::Duration> age;
};

std::string node_table(const std::vector<NodeRow>& rows, const TableLayout& layout = {});

// "42%"; empty of nothing.
std::string fill_text(double requested, double capacity);
// Empty for 0, so that a column of nothing is left out.
std::string count_text(std::size_t count);

}  // namespace millwright::app
