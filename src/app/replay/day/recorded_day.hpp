// A recording, read: the cluster at its start, what people and programs asked of it afterwards, and
// what became of it. Pure: text in, values out.
//
// What was asked is the workload (day_objects.hpp), and pods that nobody known here creates. What
// became of it is the record of pods, nodes and NodeClaims: which pod went where, and what the
// autoscaler of that day bought and removed.
#pragma once

#include "app/replay/day/day_objects.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/sandbox/recorder.hpp"

#include <boost/json/value.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millwright::app {

struct RecordedDay {
  RecordingHeader header;
  base::TimePoint start;  // everything was listed
  base::TimePoint end;
  std::vector<boost::json::value> first;  // the objects at the start
  std::vector<DayStep> steps;             // in order
  std::unique_ptr<base::VirtualLoop> clock;
  std::unique_ptr<sandbox::Recorder> recorded;  // from before the start to the end
  std::vector<std::string> notes;               // what a reader of the replay should know
};

// Invalid names `file`, the line and the member that is wrong. A last line that was cut off is left
// out, with a note.
base::Result<RecordedDay> read_day(std::string_view text, const std::string& file);

}  // namespace millwright::app
