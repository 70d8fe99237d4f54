// What Millwright would do with a cluster that another autoscaler runs, or nobody. The cluster is
// watched as `millwright record` watches it, and what is asked of it is asked at the same moment of
// an embedded cluster, as `millwright replay` does it with a recorded day: there Millwright's own
// controllers buy simulated machines. Of the watched cluster nothing but lists and watches are
// asked. Memory grows with the pods and NodeClaims that come. Loop thread only.
#pragma once

#include "app/recording/cluster_recording.hpp"
#include "app/replay/replay_cluster.hpp"
#include "app/shadow/live_day.hpp"
#include "app/shadow/shadow_report.hpp"
#include "millwright/base/metrics.hpp"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::app {

struct ShadowParts {
  kube::Client& client;  // of the watched cluster
  base::Compute& compute;
  base::Metrics& metrics;
  Redaction redaction;            // hides no names
  ReplayClusterOptions stand_in;  // without clouds: those whose NodeClasses are there
  base::Duration report_every = std::chrono::minutes(10);
  base::Logger log;
};

class Shadow {
 public:
  explicit Shadow(ShadowParts parts);
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  // Until `stop`. Fails when pods or nodes may not be listed, or when the cluster cannot be stood
  // in for: the message says what is missing.
  base::Task<base::Result<>> run(std::stop_token stop);
  // Everything was listed, and the stand-in runs.
  bool has_begun() const { return start_.has_value(); }
  // From the start until now, or until run() ended; nullopt before the start.
  std::optional<ShadowReport> report() const;

 private:
  base::Task<void> watch_cluster();
  base::Task<void> begin();
  base::Result<> open();
  base::Task<void> serve_job_ends();
  base::Task<void> keep_metrics();
  base::Task<void> keep_telling();
  base::Result<> take_line(std::string_view line);
  void listed(const RecordingLine& line);
  void fail(base::Error error);
  void tell() const;
  void set_metrics(const std::string& course, const DayFigures& figures) const;
  base::Loop& loop() const { return parts_.client.loop(); }
  // Both courses; of the pictures over time as many moments.
  ReplayReport courses(std::size_t moments) const;

  ShadowParts parts_;
  LiveDay day_;
  std::unique_ptr<ReplayCluster> stand_in_;
  ClusterRecording watching_;
  base::TaskGroup group_;
  std::optional<base::TimePoint> start_;
  std::optional<base::TimePoint> end_;
  std::vector<std::string> notes_;
  std::size_t unread_ = 0;  // objects that were left out
  std::optional<base::Error> failure_;
};

}  // namespace millwright::app
