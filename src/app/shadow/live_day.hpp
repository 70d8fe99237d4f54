// A cluster that is watched now, as `millwright replay` reads a recorded one: its objects at a
// start, what is asked of it from then on, and the record of what becomes of it. Loop thread only.
#pragma once

#include "app/replay/day/day_objects.hpp"
#include "app/shadow/job_ends.hpp"
#include "app/shadow/live_pods.hpp"
#include "millwright/base/loop.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace millwright::app {

class LiveDay final : private DayListener {
 public:
  // `ask` gets what is asked since begin(). The loop outlives the object.
  LiveDay(base::Loop& loop, std::function<void(const DayStep&)> ask)
      : ask_(std::move(ask)), recorded_(loop), objects_(recorded_, *this) {}

  // Object and Gone; the other kinds of lines are not for it. Invalid: the object cannot be read,
  // and is left out.
  base::Result<> take(RecordingLine line);
  // The objects that there are now, and what stands in for owners. Each call is another start.
  std::vector<boost::json::value> begin();
  // As DayObjects has it.
  std::string node_without_claim() const { return objects_.node_without_claim(); }
  // Lets pods of Jobs end in the stand-in.
  JobEnds& job_ends() { return job_ends_; }
  const sandbox::Recorder& recorded() const { return recorded_; }

 private:
  void first(boost::json::value object) override { first_.push_back(std::move(object)); }
  void first_pod(const boost::json::value& pod, bool owned) override {
    pods_.begin(pod, owned, first_);
  }
  void asked(DayStep step) override;
  void pod_seen(const RecordingLine& line) override;
  void pod_gone(const RecordingLine& line) override;

  std::function<void(const DayStep&)> ask_;
  sandbox::Recorder recorded_;
  DayObjects objects_;
  LivePods pods_;
  JobEnds job_ends_;
  std::vector<boost::json::value> first_;
  std::size_t taken_ = 0;
};

}  // namespace millwright::app
