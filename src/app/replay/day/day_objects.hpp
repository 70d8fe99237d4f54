// What was asked of a cluster, told from what became known of it line by line: of a recording, or
// of a cluster that is watched now. Loop thread only, where the recorder has a loop that runs.
//
// What was asked is the workload: Deployments, other workloads and what pods need, as they were
// written, and nodes that no NodePool made. What the cluster's controllers made of it (pods,
// NodeClaims and their nodes) goes to the record alone, but for pods: who listens decides which of
// them somebody asked for.
#pragma once

#include "app/recording/recording_lines.hpp"
#include "app/whatif/cluster/cluster_files.hpp"
#include "millwright/sandbox/recorder.hpp"

#include <boost/json/value.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace millwright::app {

// One thing that was asked of the cluster.
struct DayStep {
  enum class What : std::uint8_t { Put, Remove };
  base::TimePoint at;
  std::size_t line = 0;  // of the recording, from 1; 0: there is none
  What what = What::Put;
  ClusterObject object;  // of Remove, the kind and the names count
};

// Who is told what was asked.
class DayListener {
 public:
  virtual ~DayListener() = default;
  // Each object that was there at the start, pods last. `owned`: the pod's owner is there, too, and
  // will create it anew.
  virtual void first(boost::json::value object) = 0;
  virtual void first_pod(const boost::json::value& pod, bool owned) = 0;
  // Since then.
  virtual void asked(DayStep step) = 0;
  virtual void pod_seen(const RecordingLine& line) = 0;
  virtual void pod_gone(const RecordingLine& line) = 0;
};

class DayObjects {
 public:
  // Both outlive the object.
  DayObjects(sandbox::Recorder& recorded, DayListener& listener)
      : recorded_(recorded), listener_(listener) {}

  // What the objects so far are is the start: the listener is told of each. May be called
  // again, and the later start counts.
  void begin();
  bool has_begun() const { return has_begun_; }
  // The name of a Node that a NodePool made and whose NodeClaim is not there; empty: there is none.
  // Kinds are listed one after the other, so at first the claim of a new machine may be missing.
  std::string node_without_claim() const;
  // A line of kind Object. Invalid names the member that cannot be read; nothing is done then.
  base::Result<> take_object(RecordingLine& line, std::size_t number);
  // A line of kind Gone.
  void take_gone(const RecordingLine& line, std::size_t number);

 private:
  using StoredKey = std::pair<const model::Resource*, model::ObjectKey>;

  void record(const RecordingLine& line, sandbox::Change change, const sandbox::Object& object,
              std::size_t number);
  void restamp(const model::Resource& resource, boost::json::value& object) const;
  void tell(const RecordingLine& line, std::size_t number);
  void take_node(const RecordingLine& line, std::size_t number);
  void take_wish(const RecordingLine& line, std::size_t number);
  void remove_wish(const RecordingLine& line, const boost::json::value& object, std::size_t number);
  void add_step(const RecordingLine& line, DayStep::What what, boost::json::value object,
                std::size_t number);

  sandbox::Recorder& recorded_;
  DayListener& listener_;
  bool has_begun_ = false;
  std::map<StoredKey, sandbox::Object> objects_;  // as they were last
  std::map<StoredKey, std::string> wishes_;
};

}  // namespace millwright::app
