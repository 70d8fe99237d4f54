// The pods of a recording that the sandbox's controllers do not create by themselves, and how long
// pods ran that ended by themselves. Pure; used while a recording is read.
#pragma once

#include "app/replay/day/recorded_day.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::app {

// The controller of an object, as its metadata names it; nullptr without one.
const boost::json::value* controller_of(const boost::json::value& object);
// What of an object is asked for, as far as the sandbox takes it: without what controllers write.
boost::json::value wish_of(const model::Resource& resource, boost::json::value object);
bool is_deleting(const boost::json::value& object);
// Of pods: it succeeded or failed; it runs.
bool has_pod_ended(const boost::json::value& pod);
bool is_pod_running(const boost::json::value& pod);
// Its owner is one that the sandbox plays; a node's static pod.
bool is_of_played_owner(const boost::json::value& pod);
bool is_static_pod(const boost::json::value& pod);
// A pod without an owner, as it is asked for: wherever it went that day.
boost::json::value bare_pod_wish(boost::json::value pod);

// Pods without an owner, and those whose owner is of a kind that the sandbox does not play. Each
// comes when it was created and goes when it was deleted.
class LoosePods {
 public:
  // A pod that was there at the start; `owned`: its owner is there, too, and will create it anew.
  void begin(boost::json::value pod, bool owned, RecordedDay& day, std::size_t line);
  void take(const RecordingLine& line, std::size_t number);
  void gone(const RecordingLine& line);
  // Puts them and what stands in for their owners into the day.
  void place(RecordedDay& day);

 private:
  struct Loose {
    boost::json::value pod;
    base::TimePoint at;
    std::size_t line = 0;
    std::optional<std::size_t> first;  // its place among the first objects
    bool in_first = false;
    std::optional<base::TimePoint> began;  // to run
    std::optional<base::TimePoint> ended;  // by itself
    std::optional<base::TimePoint> left;   // was deleted
  };

  Loose& add(const boost::json::value& pod, base::TimePoint at, std::size_t line);
  void place_owned(Loose& loose, RecordedDay& day);
  static void place_bare(Loose& loose, RecordedDay& day);

  std::map<std::string, Loose> pods_;  // by uid
  std::size_t stand_ins_ = 0;
};

// Pods of Jobs run for as long as they were recorded to: the median of a Job's pods.
class JobRuns {
 public:
  void take(const RecordingLine& line);
  void set(RecordedDay& day);

 private:
  std::map<std::string, std::optional<base::TimePoint>> running_since_;  // by uid of the pod
  std::map<std::string, base::TimePoint> ends_;                          // the same
  std::map<std::string, std::vector<base::Duration>> runs_;              // by uid of the Job
};

}  // namespace millwright::app
