// The machines that peer servers launched since a test began: who they are, what must never be true
// of them, and somebody who plays their kubelets.
#pragma once

#include "clouds/support/peers.hpp"
#include "millwright/cloud/simulated.hpp"
#include "millwright/net/client.hpp"

#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::test {

class PeerMachines {
 public:
  // `client` is used blocking.
  PeerMachines(net::Client& client, std::vector<Peer> peers)
      : client_(client), peers_(std::move(peers)) {}

  // Machines that are there now are another test's.
  base::Result<> begin();
  std::vector<PeerMachine> launched();
  // What must never be, one line each: a machine that still runs, a claim with two, a call that was
  // signed wrongly or showed a secret.
  std::vector<std::string> problems();

  // How the kubelets of the machines are played, on the loop of `client`.
  struct Kubelets {
    base::Loop& loop;
    net::Client& client;
    cloud::InstanceListener& listener;
    base::Duration boot_time;
  };
  // Tells the listener of new machines and of those that are gone, until `stop`.
  base::Task<void> play(Kubelets kubelets, std::stop_token stop);

  const std::vector<Peer>& peers() const { return peers_; }

 private:
  base::Task<void> look_at(std::size_t peer_at, Kubelets kubelets);

  net::Client& client_;
  std::vector<Peer> peers_;
  std::set<std::string> before_;   // provider ids of machines of earlier tests
  std::set<std::string> running_;  // of those whose kubelet is played
};

// A text that is no JSON is answered as a JSON string. Blocks.
base::Result<boost::json::value> ask(net::Client& client, const std::string& url);

}  // namespace millwright::test
