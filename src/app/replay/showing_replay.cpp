// A replay as a table and as JSON.
#include "app/replay/replay.hpp"
#include "app/tables/text_table.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace millwright::app {
namespace {

namespace json = boost::json;

// Lines of the table over time, at most.
constexpr std::size_t kMostRows = 25;

std::string in_lower_case(std::string_view heading) {
  std::string text(heading);
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::string wait_text(const std::optional<base::Duration>& wait) {
  return wait ? base::format_human_duration(std::chrono::floor<std::chrono::seconds>(*wait)) : "-";
}

Row figures_row(std::string what, std::string recorded, std::string replayed,
                std::string difference = {}) {
  return {std::move(what), std::move(recorded), std::move(replayed), std::move(difference)};
}

Row count_row(const char* what, std::size_t recorded, std::size_t replayed) {
  return figures_row(what, std::to_string(recorded), std::to_string(replayed));
}

std::string percent_more(double before, double after) {
  return before <= 0 ? std::string() : fmt::format("{:+.1f}%", (after - before) / before * 100);
}

void add_figures(std::string& text, const ReplayReport& report, const CourseNames& names) {
  const auto& a = report.recorded;
  const auto& b = report.replayed;
  std::vector<Row> rows{
      figures_row("cost", fmt::format("${:.4f}", a.cost), fmt::format("${:.4f}", b.cost),
                  percent_more(a.cost, b.cost)),
      figures_row("machine hours", fmt::format("{:.2f}", a.machine_hours),
                  fmt::format("{:.2f}", b.machine_hours),
                  percent_more(a.machine_hours, b.machine_hours)),
      count_row("nodes at most", a.most_nodes, b.most_nodes),
      count_row("NodeClaims made", a.claims, b.claims),
      count_row("nodes removed", a.removed, b.removed),
      count_row("pods evicted", a.evicted, b.evicted),
      count_row("pods that came", a.pods, b.pods),
      figures_row("waited, median", wait_text(a.median_wait), wait_text(b.median_wait)),
      figures_row("waited, p99", wait_text(a.p99_wait), wait_text(b.p99_wait)),
      figures_row("waited longest", wait_text(a.longest_wait), wait_text(b.longest_wait)),
      count_row("never got a node", a.never_placed, b.never_placed)};
  const std::vector<Column> columns{{.heading = ""},
                                    {.heading = std::string(names.recorded)},
                                    {.heading = std::string(names.replayed)},
                                    {.heading = "DIFFERENCE"}};
  text += text_table(columns, rows, {.indent = 2});
}

void add_moments(std::string& text, const ReplayReport& report, const CourseNames& names) {
  const auto& recorded = report.recorded.moments;
  const auto& replayed = report.replayed.moments;
  const std::size_t rows_wanted = std::min(recorded.size(), kMostRows);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < rows_wanted; ++i) {
    const auto at = rows_wanted < 2 ? 0 : i * (recorded.size() - 1) / (rows_wanted - 1);
    const auto& a = recorded[at];
    const auto& b = replayed[at];
    rows.push_back({base::format_rfc3339(a.at), std::to_string(a.nodes), std::to_string(b.nodes),
                    fmt::format("{:.4f}", a.price), fmt::format("{:.4f}", b.price),
                    std::to_string(a.waiting), std::to_string(b.waiting)});
  }
  const std::string other(names.replayed);
  const std::vector<Column> columns{
      {.heading = "TIME"}, {.heading = "NODES"},        {.heading = other}, {.heading = "$/H"},
      {.heading = other},  {.heading = "PODS WAITING"}, {.heading = other}};
  text += fmt::format("Over time, {} and {}:\n", in_lower_case(names.recorded),
                      in_lower_case(names.replayed)) +
          text_table(columns, rows, {.indent = 2});
}

void add_pace_part(std::string& text, const char* what,
                   const std::optional<base::Duration>& duration) {
  if (duration) {
    text += fmt::format("{}{} {:.1f}s", text.empty() ? "" : ", ", what,
                        std::chrono::duration<double>(*duration).count());
  }
}

std::optional<base::Duration> typical_of(const std::optional<cloud::Latency>& latency) {
  return latency ? std::optional(latency->typical) : std::nullopt;
}

// Empty when the recording shows nothing of it.
std::string pace_text(const DayPace& pace) {
  std::string text;
  add_pace_part(text, "a launch takes", typical_of(pace.launch));
  add_pace_part(text, "a boot", typical_of(pace.boot));
  add_pace_part(text, "a new Node is Ready after", pace.node_ready);
  add_pace_part(text, "a pod after", pace.pod_start);
  add_pace_part(text, "a deleted one has ended after", pace.pod_stop);
  add_pace_part(text, "and is gone after another", pace.pod_removal);
  if (pace.replica_pods_per_second) {
    text += fmt::format("{}ReplicaSets make {:.0f} pods a second", text.empty() ? "" : ", ",
                        *pace.replica_pods_per_second);
  }
  return text.empty() ? text : "Paced as recorded: " + text + ".\n";
}

json::value seconds_of(const std::optional<base::Duration>& duration) {
  return duration ? json::value(std::chrono::duration<double>(*duration).count()) : json::value();
}

json::object json_of(const DayFigures& figures) {
  json::array moments;
  for (const auto& moment : figures.moments) {
    moments.push_back(json::object{{"at", base::format_rfc3339(moment.at)},
                                   {"nodes", moment.nodes},
                                   {"pricePerHour", moment.price},
                                   {"podsWaiting", moment.waiting}});
  }
  return {{"cost", figures.cost},
          {"machineHours", figures.machine_hours},
          {"machinesWithoutPrice", figures.without_price},
          {"mostNodes", figures.most_nodes},
          {"nodeClaims", figures.claims},
          {"nodesRemoved", figures.removed},
          {"podsEvicted", figures.evicted},
          {"pods", figures.pods},
          {"podsNeverPlaced", figures.never_placed},
          {"medianWaitSeconds", seconds_of(figures.median_wait)},
          {"p99WaitSeconds", seconds_of(figures.p99_wait)},
          {"longestWaitSeconds", seconds_of(figures.longest_wait)},
          {"moments", std::move(moments)}};
}

json::object json_of(const DayPace& pace) {
  return {
      {"launchSeconds", seconds_of(typical_of(pace.launch))},
      {"bootSeconds", seconds_of(typical_of(pace.boot))},
      {"nodeReadySeconds", seconds_of(pace.node_ready)},
      {"podStartSeconds", seconds_of(pace.pod_start)},
      {"podStopSeconds", seconds_of(pace.pod_stop)},
      {"podRemovalSeconds", seconds_of(pace.pod_removal)},
      {"replicaPodsPerSecond",
       pace.replica_pods_per_second ? json::value(*pace.replica_pods_per_second) : json::value()}};
}

}  // namespace

std::string courses_text(const ReplayReport& report, const CourseNames& names) {
  std::string text;
  add_figures(text, report, names);
  add_moments(text, report, names);
  if (report.recorded.without_price > 0 || report.replayed.without_price > 0) {
    text += fmt::format(
        "Note: {} {} and {} {} machine(s) have no price: their type is not in the catalog of their "
        "zone\n",
        report.recorded.without_price, in_lower_case(names.recorded), report.replayed.without_price,
        in_lower_case(names.replayed));
  }
  for (const auto& note : report.notes) {
    text += "Note: " + one_line(note) + "\n";
  }
  return text;
}

std::string to_text(const ReplayReport& report) {
  return fmt::format("Replayed {} from {} with seed {}.\n",
                     base::format_human_duration(report.end - report.start),
                     base::format_rfc3339(report.start), report.seed) +
         pace_text(report.pace) + courses_text(report, {});
}

std::string to_json(const ReplayReport& report) {
  json::array notes;
  for (const auto& note : report.notes) {
    notes.emplace_back(note);
  }
  const json::object all{{"start", base::format_rfc3339(report.start)},
                         {"end", base::format_rfc3339(report.end)},
                         {"seed", report.seed},
                         {"pace", json_of(report.pace)},
                         {"recorded", json_of(report.recorded)},
                         {"replayed", json_of(report.replayed)},
                         {"notes", std::move(notes)}};
  return json::serialize(all) + "\n";
}

}  // namespace millwright::app
