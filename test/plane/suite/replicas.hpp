// Two replicas of the program against a plane, and a cloud that outlives them: for everything that
// can be killed.
#pragma once

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

  // Starts what does not run, until there are two; kube-scheduler asks both.
  base::Result<> revive();
  // nullptr when nobody leads.
  Controller* leader();
  Controller* follower();
  const std::vector<std::unique_ptr<Controller>>& all() const { return replicas_; }

  // kill -9 of the leader. Fails the current test unless the other one leads within kTakeOver;
  // `meanwhile` is called before it does.
  void kill_leader(const std::function<void()>& meanwhile = {});
  // What filter says of `node` for a pod: by every replica alike, or the current test fails.
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
  std::vector<std::unique_ptr<Controller>> replicas_;
  std::map<std::string, std::string> environment_;
  int started_ = 0;
};

}  // namespace millwright::plane
