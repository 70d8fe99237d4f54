// A plane with two replicas of the program (plane/runner/replica_set.hpp) and a cloud that outlives
// them: for everything that can be killed.
#pragma once

#include "plane/runner/replica_set.hpp"
#include "plane/suite/fixture.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace millwright::plane {

// The lease lasts 15 s, and a follower acts within it and 2 s more.
inline constexpr auto kTakeOver = std::chrono::milliseconds(17'000);
// Until everything is as it should be after a replica took over.
inline constexpr auto kSettled = seconds(90);

class Replicas {
 public:
  // `environment` is added to that of each replica.
  static base::Result<std::unique_ptr<Replicas>> start(
      std::vector<std::string> cloud_flags, std::map<std::string, std::string> environment = {});

  base::Result<> revive() { return set_->revive(); }
  Controller* leader() { return set_->leader(); }
  Controller* follower() { return set_->follower(); }
  const std::vector<std::unique_ptr<Controller>>& all() const { return set_->all(); }
  Forwarder& api_of(const Controller& replica) { return set_->api_of(replica); }
  Controller* led_to() { return set_->led_to(); }

  // Does something to the leader. Fails the current test unless the other one leads within
  // kTakeOver, and kube-scheduler is led to it; returns the one that led before.
  Controller* strike_leader(const std::function<void(Controller&)>& blow);
  void kill_leader();
  // What filter says of `node` for a pod at the Service's address.
  std::string filter_answer(const json::value& pod, const std::string& node);

  Plane& plane() { return *plane_; }
  CloudProcess& cloud() { return *cloud_; }
  std::vector<json::value> of(std::string_view path, const std::string& pool);
  std::vector<json::value> pods(const std::string& app);
  std::size_t running(const std::string& app);
  // Provider ids.
  std::multiset<std::string> instances(const std::string& pool);
  bool any_closed(const std::string& pool);  // a node bears the disrupted taint
  void apply(const std::string& yaml);
  void wait(const std::string& what, seconds limit, const std::function<bool()>& seen);
  // All pods run, nobody is leaving, and each claim has its own instance and node: none is doubled,
  // none is leaked.
  void wait_settled(const std::string& name, std::size_t pods);
  void clean_up(const std::string& name);

 private:
  std::unique_ptr<Plane> plane_;
  std::unique_ptr<CloudProcess> cloud_;
  std::unique_ptr<ReplicaSet> set_;
};

}  // namespace millwright::plane
