// Pods of Jobs run in a stand-in for as long as they do in the watched cluster. How long that is
// comes out only when one ends there: then one of the same Job ends here, once it has run for as
// long. Loop thread only.
#pragma once

#include "app/recording/recording_lines.hpp"
#include "millwright/sandbox/api_server.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace millwright::app {

class JobEnds {
 public:
  // A Job or a pod of the watched cluster, as it is now; other kinds are ignored.
  void seen(const RecordingLine& line);
  // A pod of the watched cluster is gone.
  void gone(const RecordingLine& line) { began_.erase(line.uid); }
  // Ends the stand-in's pods that are due; to be called every second or so.
  void serve(sandbox::ApiServer& stand_in, base::TimePoint now);

 private:
  struct Ended {
    std::string uid;
    base::Duration ran{};
  };
  // What is known of a Job whose pods have ended there, and not all here.
  struct Known {
    std::vector<Ended> ended;
    // It is over there: whatever of it still runs here ends after so long.
    std::optional<base::Duration> over;
    base::Duration longest{};
  };
  struct Running {
    std::string uid;
    model::ObjectKey key;
    base::TimePoint since;
  };

  void seen_pod(const RecordingLine& line);
  static void end_due(Known& known, std::vector<Running> running, sandbox::ApiServer& stand_in,
                      base::TimePoint now);

  std::map<std::string, base::TimePoint> began_;  // pods that run there, by uid
  std::map<std::string, Known> jobs_;             // by uid
};

}  // namespace millwright::app
