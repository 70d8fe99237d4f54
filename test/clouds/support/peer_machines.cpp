#include "clouds/support/peer_machines.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>

namespace millwright::test {
namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(200);

}  // namespace

base::Result<boost::json::value> ask(net::Client& client, const std::string& url) {
  net::ClientRequest request;
  request.url = url;
  MW_TRY(answer, client.send_blocking(std::move(request)));
  if (answer.status != 200) {
    return base::fail(base::ErrorKind::Unavailable, url + ": " + answer.body);
  }
  boost::system::error_code error;
  auto parsed = boost::json::parse(answer.body, error);
  return error ? boost::json::value(answer.body) : parsed;
}

base::Result<> PeerMachines::begin() {
  for (const auto& peer : peers_) {
    MW_TRY(answer, ask(client_, peer.url + peer.machines_path));
    for (const auto& machine : peer.read_machines(answer)) {
      before_.insert(machine.instance.provider_id);
    }
  }
  return {};
}

std::vector<PeerMachine> PeerMachines::launched() {
  std::vector<PeerMachine> all;
  for (const auto& peer : peers_) {
    const auto answer = ask(client_, peer.url + peer.machines_path);
    if (!answer) {
      ADD_FAILURE() << answer.error().message;
      continue;
    }
    for (auto& machine : peer.read_machines(*answer)) {
      if (!before_.contains(machine.instance.provider_id)) {
        all.push_back(std::move(machine));
      }
    }
  }
  return all;
}

std::vector<std::string> PeerMachines::problems() {
  std::vector<std::string> found;
  std::map<std::string, int> by_claim;
  for (const auto& machine : launched()) {
    if (!machine.is_gone) {
      found.push_back(machine.instance.provider_id + " still runs");
    }
    if (machine.claim.empty()) {
      found.push_back(machine.instance.provider_id + " was launched for no claim");
    } else if (++by_claim[machine.claim] > 1) {
      found.push_back("claim " + machine.claim + " was launched twice");
    }
  }
  for (const auto& peer : peers_) {
    const auto ledger = ask(client_, peer.url + "/_facade/ledger");
    for (const auto& problem :
         ledger ? peer.find_problems(*ledger) : std::vector<std::string>{"no ledger"}) {
      found.push_back(peer.name + ": " + problem);
    }
  }
  return found;
}

base::Task<void> PeerMachines::play(Kubelets kubelets, std::stop_token stop) {
  while (!stop.stop_requested()) {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      co_await look_at(peer, kubelets);
    }
    co_await base::sleep(kubelets.loop, kLookAgain, stop);
  }
}

base::Task<void> PeerMachines::look_at(std::size_t peer_at, Kubelets kubelets) {
  const auto& peer = peers_[peer_at];
  net::ClientRequest request;
  request.url = peer.url + peer.machines_path;
  auto answer = co_await kubelets.client.send(std::move(request));
  if (!answer || answer->status != 200) {
    co_return;  // the next look will tell
  }
  for (const auto& machine : peer.read_machines(boost::json::parse(answer->body))) {
    const auto& id = machine.instance.provider_id;
    if (before_.contains(id)) {
      continue;
    }
    if (!machine.is_gone && running_.insert(id).second) {
      kubelets.listener.launched(machine.instance, nullptr, kubelets.boot_time);
    }
    if (machine.is_gone && running_.erase(id) > 0) {
      kubelets.listener.terminated(id);
    }
  }
}

}  // namespace millwright::test
