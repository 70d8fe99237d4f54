// Tables for people: columns as wide as their widest cell, two spaces apart; narrower where the
// terminal is.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

struct Column {
  std::string heading;
  bool shrinks = false;   // its cells may be cut to fit the width
  bool optional = false;  // left out first where the width is too small for all
};
using Row = std::vector<std::string>;  // a cell for each column

struct TableLayout {
  static constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
  std::size_t indent = 0;
  std::size_t width = kUnlimited;  // of a line, the indent included
};

// The headings and a line for each row. A column whose cells are all empty is left out. Nothing is
// wider than the width: what is cut ends with "~".
std::string text_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                       const TableLayout& layout = {});

// One line without control characters, which would command the terminal, cut to the width.
std::string one_line(std::string_view text, std::size_t width = TableLayout::kUnlimited);

}  // namespace millwright::app
