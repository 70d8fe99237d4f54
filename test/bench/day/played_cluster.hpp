// A cluster in virtual time whose nodes are removed by our decisions or by Karpenter's rules;
// everything else is the same, purchases too.
#pragma once

#include "support/virtual_cluster.hpp"

#include <cstdint>
#include <string>

namespace millwright::bench {

enum class Side : std::uint8_t { Ours, Peer };

struct PlayOptions {
  Side side = Side::Ours;
  int cpus_below = 17;  // of the machines that may be bought
  std::string budget = "10%";
  bool show_commands = false;
};

struct PlayedWork {
  std::string name;
  int milli_cpu = 0;
  int mebibytes = 0;
};

// Whatever does not succeed throws.
class PlayedCluster {
 public:
  // With one NodePool of on-demand machines and consolidateAfter 0s.
  explicit PlayedCluster(const PlayOptions& options);

  void deploy(const PlayedWork& work, int replicas);
  void scale(const std::string& deployment, int replicas);
  void run_for(base::Duration duration) { cluster_.loop.run_for(duration); }
  void run_until(base::TimePoint time) { cluster_.loop.run_until(time); }

  base::TimePoint now() const { return cluster_.loop.now(); }
  double evictions() const;
  sandbox::Recorder& recorder() { return cluster_.cluster->world().recorder(); }
  scheduling::InstanceTypes types();

 private:
  test::VirtualCluster cluster_;
};

}  // namespace millwright::bench
