// `millwright replay`: a recorded day, run again in virtual time with the real controllers, and
// what it came to beside what was recorded. The same recording, files and seed give the same
// answer, byte for byte. Pure but for its own loop: texts in, a report out.
#pragma once

#include "app/replay/day/day_figures.hpp"
#include "app/replay/day/day_pace.hpp"
#include "app/replay/day/recorded_day.hpp"
#include "app/whatif/forecast.hpp"
#include "millwright/telemetry/decision_log.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

struct ReplayRequest {
  std::string recording;
  std::string node_pools;  // a file that is applied at the start; empty: none
  std::uint64_t seed = 1;
  std::vector<std::string> clouds;  // whose catalogs; empty: those whose NodeClasses are recorded
  std::string instance_types_file;  // the catalog of kwok in place of its own
  telemetry::DecisionLog::Write write_decision = {};  // hears each decision of the replay
};

struct ReplayReport {
  base::TimePoint start;
  base::TimePoint end;
  std::uint64_t seed = 1;
  DayPace pace = {};  // of the replay, taken from the recording
  DayFigures recorded;
  DayFigures replayed;
  std::vector<std::string> notes;
};

// Invalid or NotFound: something in the recording or the files is wrong; the message says what.
base::Result<ReplayReport> replay_day(const ReplayRequest& request, const ReadFile& read);

std::string to_text(const ReplayReport& report);
// The headings of the two courses.
struct CourseNames {
  std::string_view recorded = "RECORDED";
  std::string_view replayed = "REPLAYED";
};
// The figures and the course of time of both, and the notes: a report without its first line.
std::string courses_text(const ReplayReport& report, const CourseNames& names);
std::string to_json(const ReplayReport& report);
// Nodes, price and waiting pods over time, as an SVG.
std::string to_svg(const ReplayReport& report);

}  // namespace millwright::app
