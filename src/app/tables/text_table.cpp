#include "app/tables/text_table.hpp"

#include <algorithm>

namespace millwright::app {
namespace {

constexpr std::size_t kLeastWidth = 6;  // of a column that is cut
constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowGap = 1;

struct ShownColumn {
  std::size_t cell = 0;  // index in a row
  std::size_t width = 0;
  bool shrinks = false;
  bool optional = false;
};
using Shown = std::vector<ShownColumn>;

Shown shown_columns(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  Shown shown;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t widest = 0;
    for (const auto& row : rows) {
      widest = std::max(widest, row[i].size());
    }
    if (widest > 0) {
      shown.push_back({.cell = i,
                       .width = std::max(widest, columns[i].heading.size()),
                       .shrinks = columns[i].shrinks,
                       .optional = columns[i].optional});
    }
  }
  return shown;
}

std::size_t total_width(const Shown& shown, std::size_t gap, std::size_t indent) {
  std::size_t total = indent;
  for (const auto& column : shown) {
    total += column.width + (&column == &shown.front() ? 0 : gap);
  }
  return total;
}

// Takes one character from the widest column that may be cut. False: there is none.
bool shrink(Shown& shown) {
  ShownColumn* widest = nullptr;
  for (auto& column : shown) {
    if (column.shrinks && column.width > kLeastWidth &&
        (widest == nullptr || column.width > widest->width)) {
      widest = &column;
    }
  }
  if (widest != nullptr) {
    --widest->width;
  }
  return widest != nullptr;
}

// Makes the columns fit, and says how far apart they are.
std::size_t fit(Shown& shown, const TableLayout& layout) {
  while (total_width(shown, kGap, layout.indent) > layout.width) {
    const auto last = std::find_if(shown.rbegin(), shown.rend(),
                                   [](const auto& column) { return column.optional; });
    if (last == shown.rend()) {
      break;
    }
    shown.erase(std::next(last).base());
  }
  if (total_width(shown, kGap, layout.indent) <= layout.width) {
    return kGap;
  }
  while (total_width(shown, kNarrowGap, layout.indent) > layout.width && shrink(shown)) {
  }
  return kNarrowGap;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t width) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  if (line.size() <= width) {
    return line;
  }
  std::size_t end = width > 0 ? width - 1 : 0;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) {
    --end;  // not within a character of several bytes
  }
  line.resize(end);
  return width > 0 ? line + "~" : line;
}

std::string text_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                       const TableLayout& layout) {
  Shown shown = shown_columns(columns, rows);
  const std::size_t gap = fit(shown, layout);
  Row headings;
  for (const auto& column : columns) {
    headings.push_back(column.heading);
  }
  std::string text;
  const auto add = [&](const Row& row) {
    std::string line(layout.indent, ' ');
    for (const auto& column : shown) {
      std::string cell = one_line(row[column.cell], column.width);
      cell.resize(column.width + gap, ' ');
      line += cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += one_line(line, layout.width) + "\n";
  };
  add(headings);
  std::for_each(rows.begin(), rows.end(), add);
  return text;
}

}  // namespace millwright::app
