// A replay as a picture: three charts over the day, one below the other, with what was recorded in
// grey and what was replayed in blue. Numbers and times only, so nothing in it needs escaping.
#include "app/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace millwright::app {
namespace {

constexpr int kWidth = 860;
constexpr int kLeft = 70;
constexpr int kRight = 20;
constexpr int kTop = 46;
constexpr int kChartHeight = 150;
constexpr int kChartStep = 200;
constexpr int kTimeMarks = 6;
constexpr const char* kRecordedColor = "#9aa0a6";
constexpr const char* kReplayedColor = "#1a73e8";

struct Chart {
  const char* title;
  std::function<double(const DayMoment&)> value;
  int digits = 0;  // after the point
};

// 1, 2 or 5 times a power of ten, not below `value`.
double round_up(double value) {
  double step = std::pow(10, std::floor(std::log10(std::max(value, 1e-6))));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (step * factor >= value - 1e-12) {
      return step * factor;
    }
  }
  return step * 10;
}

double x_of(std::size_t number, std::size_t moments) {
  const double share =
      moments < 2 ? 0 : static_cast<double>(number) / static_cast<double>(moments - 1);
  return kLeft + share * (kWidth - kLeft - kRight);
}

// A value holds until the next moment: machines come and go at once.
std::string steps_path(const std::vector<DayMoment>& moments, const Chart& chart, double top,
                       int base) {
  std::string path;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const double y = base - chart.value(moments[i]) / top * kChartHeight;
    const double x = x_of(i, moments.size());
    path += i == 0 ? fmt::format("M{:.1f} {:.1f}", x, y) : fmt::format("H{:.1f}V{:.1f}", x, y);
  }
  return path;
}

std::string text_at_place(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text);
}

std::string chart_svg(const ReplayReport& report, const Chart& chart, int number) {
  const int base = kTop + number * kChartStep + kChartHeight + 20;
  double most = 0;
  for (const auto* moments : {&report.recorded.moments, &report.replayed.moments}) {
    for (const auto& moment : *moments) {
      most = std::max(most, chart.value(moment));
    }
  }
  const double top = round_up(most);
  std::string svg = fmt::format("<text x=\"{}\" y=\"{}\" class=\"title\">{}</text>\n", kLeft,
                                base - kChartHeight - 8, chart.title);
  for (const double share : {0.0, 0.5, 1.0}) {
    const double y = base - share * kChartHeight;
    svg += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>\n", kLeft, y, kWidth - kRight);
    svg +=
        text_at_place(kLeft - 8, y + 4, "end", fmt::format("{:.{}f}", top * share, chart.digits));
  }
  svg += fmt::format("<path class=\"line\" stroke=\"{}\" d=\"{}\"/>\n", kRecordedColor,
                     steps_path(report.recorded.moments, chart, top, base));
  svg += fmt::format("<path class=\"line\" stroke=\"{}\" d=\"{}\"/>\n", kReplayedColor,
                     steps_path(report.replayed.moments, chart, top, base));
  return svg;
}

std::string legend(const ReplayReport& report) {
  std::string svg;
  double x = kLeft;
  for (const auto& [name, figures, color] :
       {std::tuple("recorded", &report.recorded, kRecordedColor),
        std::tuple("replayed", &report.replayed, kReplayedColor)}) {
    svg += fmt::format("<path class=\"line\" stroke=\"{}\" d=\"M{:.1f} 22h24\"/>\n", color, x);
    svg += text_at_place(
        x + 30, 26, "start",
        fmt::format("{}: ${:.4f}, {} pods evicted", name, figures->cost, figures->evicted));
    x += 300;
  }
  return svg;
}

std::string times(const ReplayReport& report, int y) {
  std::string svg;
  for (int i = 0; i <= kTimeMarks; ++i) {
    const auto at = report.start + (report.end - report.start) / kTimeMarks * i;
    const auto text = base::format_rfc3339(at);
    const auto* anchor = i == 0 ? "start" : i == kTimeMarks ? "end" : "middle";
    svg += text_at_place(x_of(static_cast<std::size_t>(i), kTimeMarks + 1), y, anchor,
                         text.substr(11, 5));
  }
  return svg;
}

}  // namespace

std::string to_svg(const ReplayReport& report) {
  const std::vector<Chart> charts{
      {"Nodes", [](const DayMoment& m) { return static_cast<double>(m.nodes); }, 1},
      {"Dollars per hour", [](const DayMoment& m) { return m.price; }, 3},
      {"Pods without a node", [](const DayMoment& m) { return static_cast<double>(m.waiting); },
       1}};
  const int height = kTop + static_cast<int>(charts.size()) * kChartStep + 10;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"Nodes, price and waiting pods, recorded and "
      "replayed\">\n"
      "<style>text{{font:12px sans-serif;fill:#3c4043}}.title{{font-weight:bold}}"
      ".grid{{stroke:#dadce0}}.line{{fill:none;stroke-width:1.5}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth, height);
  svg += legend(report);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    svg += chart_svg(report, charts[i], static_cast<int>(i));
  }
  return svg + times(report, height - 12) + "</svg>\n";
}

}  // namespace millwright::app
