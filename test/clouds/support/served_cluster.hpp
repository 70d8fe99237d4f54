// A sandbox cluster in real time, and `millwright controller --clouds ...` as a process of its own
// that serves it over HTTPS, with the real adapters against peer servers. The machines that a peer
// server has become Nodes here. The test's thread waits; everything else runs on a loop.
#pragma once

#include "clouds/support/peer_machines.hpp"
#include "millwright/net/client.hpp"
#include "millwright/sandbox/world.hpp"
#include "plane/runner/process.hpp"
#include "support/loop_thread.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace millwright::test {

class ServedCluster {
 public:
  explicit ServedCluster(std::vector<Peer> peers);
  ~ServedCluster();
  ServedCluster(const ServedCluster&) = delete;
  ServedCluster& operator=(const ServedCluster&) = delete;

  // Starts the API server and the program, and waits until it says that it is ready.
  base::Result<> start();

  // Creates the objects of a file of manifests/examples, or of a text.
  base::Result<> apply_file(const std::string& file);
  base::Result<> apply(const std::string& yaml);
  void scale(const std::string& deployment, int replicas);
  // Everything of the kind, as with kubectl delete --all.
  void remove_all(const model::Resource& resource);
  std::vector<boost::json::value> list(const model::Resource& resource);
  // Pods of namespace default that run.
  std::size_t running();

  // Asks until `holds`; false after `limit`.
  bool wait(std::chrono::seconds limit, const std::function<bool()>& holds);

  // Deletes Deployments, NodePools and, once no claim is left, these NodeClasses; false when
  // something is still there after `limit`.
  bool give_back(std::chrono::seconds limit, const std::vector<model::Resource>& node_classes);

  // Machines that were launched since the start.
  std::vector<PeerMachine> machines() { return machines_->launched(); }
  // What must never be, one line each: a machine that still runs, a claim with two, a call that was
  // signed wrongly or showed a secret, a secret in the program's log or metrics.
  std::vector<std::string> problems();
  // The end of the program's log.
  std::string said() const;
  std::string metrics();

 private:
  base::Result<> start_program(const std::string& kubeconfig);

  std::string directory_;
  LoopThread thread_;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<sandbox::World> world_;
  std::unique_ptr<sandbox::ApiEndpoint> endpoint_;
  std::unique_ptr<PeerMachines> machines_;
  std::unique_ptr<base::TaskGroup> kubelets_;
  std::unique_ptr<plane::Process> program_;
  int metrics_port_ = 0;
  int health_port_ = 0;
};

}  // namespace millwright::test
