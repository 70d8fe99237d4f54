// The clouds of test/CLOUD/facade.py, as what a test of the whole program needs of each: how the
// program is led there, which machines there are, and what must never have happened.
#pragma once

#include "millwright/cloud/provider.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace millwright::test {

// A machine of a peer server, as its kubelet would report it.
struct PeerMachine {
  cloud::Instance instance;
  std::string claim;  // the NodeClaim's name, by its tags
  bool is_gone = false;
};

struct Peer {
  std::string name;  // as in --clouds
  std::string url;   // empty: scripts/test has not started it
  std::map<std::string, std::string> environment;
  std::vector<std::string> flags;
  std::vector<std::string> secrets;
  std::string machines_path;
  std::function<std::vector<PeerMachine>(const boost::json::value&)> read_machines;
  // Of the ledger: calls that were signed wrongly, or showed a secret.
  std::function<std::vector<std::string>(const boost::json::value&)> find_problems;
};

Peer aws_peer();
Peer alibaba_peer();
Peer huawei_peer();

}  // namespace millwright::test
