// Replicas of the program against a plane, as they are shipped. kube-scheduler has the one address
// of Service millwright-extender, whose connections go to the endpoint that the leader wrote; each
// replica has a way to the API server that can be cut. Blocks the calling thread.
#pragma once

#include "plane/runner/controller.hpp"
#include "plane/runner/forwarder.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace millwright::plane {

// Until kube-scheduler is led to a leader, whatever happened before.
inline constexpr auto kLedAgain = std::chrono::seconds(90);

class ReplicaSet {
 public:
  struct Options {
    std::size_t replicas = 2;
    std::string cloud_url;  // of a CloudProcess: all of them launch in one cloud
    std::map<std::string, std::string> environment;  // added to that of each replica
  };
  // revive() has been called. The CRDs must be there; the plane outlives this.
  static base::Result<std::unique_ptr<ReplicaSet>> start(Plane& plane, Options options);

  // Starts what does not run, until there are as many as there should be, and waits until
  // kube-scheduler would be led to one.
  base::Result<> revive();
  // nullptr when nobody leads.
  Controller* leader();
  Controller* follower();
  const std::vector<std::unique_ptr<Controller>>& all() const { return replicas_; }
  // By its log: it need not answer.
  static bool leads(Controller& replica);
  // The way of a replica to the API server.
  Forwarder& api_of(const Controller& replica);
  // The replica whose address the EndpointSlice has; nullptr when it is nobody's.
  Controller* led_to();
  // An item of KubeSchedulerConfiguration's extenders with the Service's address, as JSON.
  std::string extender() { return replicas_.front()->extender(service_->port()); }

 private:
  ReplicaSet(Plane& plane, Options options) : plane_(plane), options_(std::move(options)) {}
  // Of one replica, as the cluster around it sees it.
  struct Place {
    std::string address;  // in the EndpointSlice
    std::unique_ptr<Forwarder> api;
  };
  base::Result<> start_replica();
  base::Result<> start_service();
  int service_target();

  Plane& plane_;
  Options options_;
  std::map<const Controller*, Place> places_;
  std::vector<std::unique_ptr<Controller>> replicas_;
  int started_ = 0;
  std::mutex mutex_;                              // of what follows
  std::map<std::string, int> ports_;              // where the replica of an address serves
  std::string endpoint_;                          // as known last
  std::unique_ptr<base::RealLoop> service_loop_;  // never run: the client is only used blocking
  std::unique_ptr<net::Client> service_client_;
  std::unique_ptr<Forwarder> service_;
};

}  // namespace millwright::plane
