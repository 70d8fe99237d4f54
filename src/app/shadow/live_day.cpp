#include "app/shadow/live_day.hpp"

#include <utility>

namespace millwright::app {

base::Result<> LiveDay::take(RecordingLine line) {
  ++taken_;
  if (line.kind == RecordingLine::Kind::Gone) {
    if (*line.resource == model::kPodResource) {
      job_ends_.gone(line);
    }
    objects_.take_gone(line, taken_);
    return {};
  }
  job_ends_.seen(line);
  return objects_.take_object(line, taken_);
}

std::vector<boost::json::value> LiveDay::begin() {
  first_.clear();
  pods_.clear();
  objects_.begin();
  return std::exchange(first_, {});
}

void LiveDay::asked(DayStep step) {
  step.line = 0;  // nobody can look it up
  ask_(step);
}

void LiveDay::pod_seen(const RecordingLine& line) {
  if (const auto step = pods_.seen(line)) {
    ask_(*step);
  }
}

void LiveDay::pod_gone(const RecordingLine& line) {
  if (const auto step = pods_.gone(line)) {
    ask_(*step);
  }
}

}  // namespace millwright::app
