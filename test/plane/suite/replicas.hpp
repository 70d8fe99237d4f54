// Two replicas of the program against a plane, and a cloud that outlives them: for everything that
// can be killed. kube-scheduler has the one address of Service millwright-extender, whose
// connections go to the endpoint that the leader wrote; each replica has a way to the API server
// that can be cut.
#pragma once

#include "plane/runner/forwarder.hpp"
#include "plane/suite/fixture.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
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

  // Starts what does not run, until there are two, and waits until kube-scheduler is led to one.
  base::Result<> revive();
  // nullptr when nobody leads.
  Controller* leader();
  Controller* follower();
  const std::vector<std::unique_ptr<Controller>>& all() const { return replicas_; }

  // Does something to the leader. Fails the current test unless the other one leads within
  // kTakeOver, and kube-scheduler is led to it; returns the one that led before.
  Controller* strike_leader(const std::function<void(Controller&)>& blow);
  void kill_leader();
  // The way of a replica to the API server.
  Forwarder& api_of(const Controller& replica);
  // The replica whose address the EndpointSlice has; nullptr when it is nobody's.
  Controller* led_to();
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
  // Of one replica, as the cluster around it sees it.
  struct Place {
    std::string address;  // in the EndpointSlice
    std::unique_ptr<Forwarder> api;
  };
  base::Result<> start_replica();
  base::Result<> start_service();
  int service_target();

  std::map<const Controller*, Place> places_;
  std::vector<std::unique_ptr<Controller>> replicas_;
  std::map<std::string, std::string> environment_;
  int started_ = 0;
  std::mutex mutex_;                              // of what follows
  std::map<std::string, int> ports_;              // where the replica of an address serves
  std::string endpoint_;                          // as known last
  std::unique_ptr<base::RealLoop> service_loop_;  // never run: the client is only used blocking
  std::unique_ptr<net::Client> service_client_;
  std::unique_ptr<Forwarder> service_;
};

}  // namespace millwright::plane
