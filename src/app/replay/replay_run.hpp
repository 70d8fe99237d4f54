// One run of a recorded day in an embedded cluster. Loop thread only, on a loop of its own.
#pragma once

#include "app/replay/replay.hpp"
#include "app/replay/replay_cluster.hpp"
#include "app/whatif/changes.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::app {

struct ReplaySetup {
  const RecordedDay& day;
  const ClusterFiles& files;  // the day's first objects
  std::vector<cloud::Profile> clouds;
  // Applied at the start; by file, of which there is one at most.
  const AppliedObjects& applied;
  std::uint64_t seed = 1;
  std::string instance_types_file;
  DayPace pace = {};
  telemetry::DecisionLog::Write write_decision = {};
};

class ReplayRun {
 public:
  explicit ReplayRun(const ReplaySetup& setup);
  ~ReplayRun();
  ReplayRun(const ReplayRun&) = delete;
  ReplayRun& operator=(const ReplayRun&) = delete;

  // Fails when an object of the start, or of the applied file, is refused. What is refused later is
  // left out, with a note.
  base::Result<> run();

  // Once it ran.
  const ReplayCluster& replayed() const { return *cluster_; }
  std::vector<std::string> notes() const;

 private:
  base::Result<> open();
  base::Result<> apply_file();
  bool is_replaced(const DayStep& step) const;
  void stop();

  const ReplaySetup& setup_;
  base::VirtualLoop loop_;
  base::InlineCompute compute_;
  std::unique_ptr<ReplayCluster> cluster_;
  std::unique_ptr<Changes> changes_;
  base::TaskGroup group_;
  std::set<std::pair<std::string, std::string>> replaced_;  // kind and name, by the applied file
  std::size_t outvoted_ = 0;  // steps about what the applied file replaces
};

}  // namespace millwright::app
