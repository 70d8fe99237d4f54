// Records a cluster: lists and watches what planning reads, and writes a line for what there is and
// for each change (recording_lines.hpp). It asks the API server for lists and watches only. Memory
// is bounded by the objects that exist, not by how long it runs. Loop thread only.
#pragma once

#include "app/recording/redaction.hpp"
#include "millwright/base/log.hpp"
#include "millwright/base/task.hpp"
#include "millwright/kube/client.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace millwright::app {

struct RecordingParts {
  kube::Client& client;
  Redaction redaction;
  // Takes a whole line with its end. What it says of a failure ends the recording.
  std::function<base::Result<>(std::string_view line)> write;
  std::optional<base::Duration> duration;  // from when everything was listed
  std::uint64_t most_bytes = 0;            // the line that ends it included
  std::uint64_t seed = 1;                  // of the informers' jitter
  base::Logger log;
  std::function<void()> on_listed = {};  // may be empty
};

struct RecordingOutcome {
  std::string ended;  // "stopped", "duration" or "size", as the last line says it
  std::uint64_t bytes = 0;
  std::size_t lines = 0;
  bool listed = false;               // false: it ended before; nothing can be replayed from it
  std::vector<std::string> without;  // resources that could not be listed
};

class ClusterRecording {
 public:
  explicit ClusterRecording(RecordingParts parts);

  // Until `stop`, the duration or the size ends it. Fails when a line cannot be written, and at its
  // begin when pods or nodes may not be listed, or when the API server does not know who asks.
  base::Task<base::Result<RecordingOutcome>> run(std::stop_token stop);

 private:
  using Key = std::pair<std::size_t, model::ObjectKey>;  // number of the kind

  base::Task<void> end_after(base::Duration duration);
  void watch(std::size_t kind);
  void seen(std::size_t kind, const boost::json::value& object);
  void gone(std::size_t kind, const model::ObjectKey& key, const std::string& uid);
  void listed(std::size_t kind);
  void not_listable(std::size_t kind, const base::Error& why);
  void kind_is_done(std::size_t kind);
  void put(const std::string& line);
  void end(std::string_view why);
  void fail(base::Error error);

  RecordingParts parts_;
  base::TaskGroup group_;
  std::map<Key, std::uint64_t> written_;  // digests of the objects as they were written last
  std::set<std::size_t> unlisted_;        // kinds that are still to be listed
  std::set<std::size_t> without_;
  RecordingOutcome outcome_;
  std::optional<base::Error> failure_;
};

}  // namespace millwright::app
