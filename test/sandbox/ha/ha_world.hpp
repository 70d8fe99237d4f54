// A simulated cluster with two replicas of the program: one cloud, one Service whose endpoint the
// leader writes, and one kube-scheduler that keeps its connection as long as it is answered.
#pragma once

#include "millwright/cloud/simulated.hpp"
#include "sandbox/ha/replica.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::test {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class HaWorld {
 public:
  explicit HaWorld(std::uint64_t seed = 1);
  ~HaWorld();

  void apply(const std::string& yaml);
  void deploy(const std::string& name, int replicas, const std::string& cpu);
  void scale(const std::string& name, int replicas);
  // A NodePool of kwok's machines, of at least so many CPUs each.
  void apply_pool(const std::string& consolidate_after);
  std::size_t running(const std::string& app);
  std::vector<std::shared_ptr<const model::NodeClaim>> claims();
  std::size_t instances();
  bool wait(const std::function<bool()>& predicate, base::Duration limit) {
    return loop.run_until(predicate, limit);
  }

  // nullptr when no term holds.
  Replica* leader();
  Replica& other(const Replica& replica);
  // Runs until a replica leads and kube-scheduler is led to it.
  Replica& wait_for_leader();
  // Whose address the EndpointSlice has; nullptr when it is nobody's.
  Replica* led_to();
  // How often each replica answered kube-scheduler.
  int answers(const Replica& replica) const;

  base::VirtualLoop loop;
  std::unique_ptr<cloud::SimulatedCloud> cloud;
  std::unique_ptr<sandbox::World> world;
  std::vector<Write> writes;
  std::vector<std::string> overlaps;  // writes outside of the writer's term, or in another's
  std::array<std::unique_ptr<Replica>, 2> replicas;

 private:
  friend class ServiceCaller;
  void wrote(Write write);
  std::map<std::string, int> answers_;  // by replica
};

}  // namespace millwright::test
