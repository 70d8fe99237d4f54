// Tables keep to the width, and nothing in a cell commands the terminal.
#include "app/tables/text_table.hpp"

#include "app/tables/node_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

const std::vector<Column> kColumns{{.heading = "NAME", .shrinks = true},
                                   {.heading = "ZONE", .optional = true},
                                   {.heading = "EMPTY"},
                                   {.heading = "N"}};
const std::vector<Row> kRows{{"a-name-of-some-length", "zone-a", "", "1"}, {"b", "z", "", "22"}};

TEST(TextTable, ColumnsAreAsWideAsTheirCellsAndEmptyOnesAreLeftOut) {
  EXPECT_EQ(text_table(kColumns, kRows, {.indent = 2}),
            "  NAME                   ZONE    N\n"
            "  a-name-of-some-length  zone-a  1\n"
            "  b                      z       22\n");
}

TEST(TextTable, WhereTheWidthIsTooSmallOptionalColumnsGoAndThenNamesAreCut) {
  EXPECT_EQ(text_table(kColumns, kRows, {.width = 25}),
            "NAME                   N\n"
            "a-name-of-some-length  1\n"
            "b                      22\n");
  EXPECT_EQ(text_table(kColumns, kRows, {.width = 13}),
            "NAME       N\n"
            "a-name-of~ 1\n"
            "b          22\n");
}

TEST(TextTable, NoLineIsWiderThanTheWidthHoweverSmallItIs) {
  for (std::size_t width = 1; width < 40; ++width) {
    std::string rest = text_table(kColumns, kRows, {.indent = 2, .width = width});
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      EXPECT_LE(end, width);
      rest.erase(0, end + 1);
    }
  }
}

TEST(TextTable, CellsCannotCommandTheTerminalOrBreakTheLine) {
  EXPECT_EQ(text_table({{.heading = "WHY"}}, {{"\x1b[2Jgone\nnext"}}), "WHY\n?[2Jgone?next\n");
}

TEST(TextTable, ACutKeepsCharactersWhole) {
  EXPECT_EQ(one_line("a\xc3\xa9\xc3\xa9", 4), "a\xc3\xa9~");
  EXPECT_EQ(one_line("a\xc3\xa9\xc3\xa9", 3), "a~");
  EXPECT_EQ(one_line("abc", 0), "");
}

TEST(NodeTable, TheSandboxsNodesLookAsTheyAlwaysDid) {
  NodeRow row;
  row.name = "10.0.0.5";
  row.instance_type = "c9.4xlarge.4";
  row.zone = "cn-north-4a";
  row.capacity_type = "on-demand";
  row.state = "Draining";
  row.cpu = 16;
  row.cpu_requested = 7;
  row.pods = 5;
  row.price = 0.784;
  row.age = std::chrono::seconds(79);
  EXPECT_EQ(
      node_table({row}, {.indent = 2}),
      "  NODE      TYPE          ZONE         CAPACITY   STATE     PODS  CPU     $/H     AGE\n"
      "  10.0.0.5  c9.4xlarge.4  cn-north-4a  on-demand  Draining  5     7.0/16  0.7840  79s\n");
}

}  // namespace
}  // namespace millwright::app
