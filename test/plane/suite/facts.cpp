#include "plane/suite/facts.hpp"

#include "millwright/base/loop.hpp"
#include "millwright/cluster/ledger.hpp"
#include "millwright/kube/config.hpp"
#include "millwright/kube/informer.hpp"
#include "millwright/model/codec.hpp"
#include "millwright/scheduling/demand.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <map>

namespace millwright::plane {
namespace {

std::uint64_t version_of(const model::ObjectMeta& meta) {
  return std::strtoull(meta.resource_version.c_str(), nullptr, 10);
}

struct PodFact {
  std::string name;
  std::string node;
  scheduling::GroupId group;
  std::uint64_t created = 0;  // version of the first event
  std::uint64_t bound = 0;    // version of the event that showed the binding; 0: never
  bool gone = false;
};

struct NodeFact {
  std::string name;
  bool gone = false;
  std::uint64_t usable = 0;  // version of the first event in which it could take pods; 0: never
  std::uint64_t last = 0;    // version of the newest event
  std::map<std::uint64_t, bool> closed;  // by version: whether it bore the disrupted taint then
};

struct ClaimFact {
  std::string name;
  std::string node;
  std::uint64_t created = 0;                         // version of the first event
  std::map<scheduling::GroupId, std::int32_t> pods;  // it was bought for
};

}  // namespace

struct Facts::State {
  base::RealLoop loop;
  std::unique_ptr<kube::Client> client;
  std::map<std::string, PodFact> pods;      // by uid
  std::map<std::string, NodeFact> nodes;    // by uid
  std::map<std::string, ClaimFact> claims;  // by uid
  base::TaskGroup group{loop};
  std::thread thread;

  void see(const model::Pod& pod) {
    auto& fact = pods[pod.meta.uid];
    fact.name = pod.meta.name;
    fact.group = scheduling::group_of(pod);
    fact.created = fact.created == 0 ? version_of(pod.meta) : fact.created;
    if (fact.bound == 0 && !pod.spec.node_name.empty() && !model::is_owned_by_daemonset(pod)) {
      fact.node = pod.spec.node_name;
      fact.bound = version_of(pod.meta);
    }
  }
  void see(const model::Node& node) {
    auto& fact = nodes[node.meta.uid];
    fact.name = node.meta.name;
    fact.last = version_of(node.meta);
    // A node that is Ready as it comes keeps pods off by a taint until it has registered.
    const bool is_closed =
        std::any_of(node.taints.begin(), node.taints.end(),
                    [](const auto& taint) { return taint.effect != "PreferNoSchedule"; });
    if (fact.usable == 0 && !is_closed && model::is_true(node.conditions, model::kReady)) {
      fact.usable = fact.last;
    }
    fact.closed[version_of(node.meta)] =
        std::any_of(node.taints.begin(), node.taints.end(),
                    [](const auto& taint) { return taint.key == model::kDisruptedTaint; });
  }
  void see(const model::NodeClaim& claim) {
    auto& fact = claims[claim.meta.uid];
    fact.name = claim.meta.name;
    fact.node = claim.node_name.empty() ? fact.node : claim.node_name;
    if (fact.created == 0) {
      fact.created = version_of(claim.meta);
    }
    const auto reservations = cluster::decode_reservations(
        claim.meta.annotation(model::kReservationsAnnotation), claim.meta.name);
    for (const auto& reservation : reservations.value_or(std::vector<scheduling::Reservation>{})) {
      fact.pods[reservation.group] = reservation.count;
    }
  }

  template <class T>
  void watch(model::Resource resource, std::uint64_t seed) {
    kube::InformerHandlers handlers;
    handlers.upsert = [this](const boost::json::value& object) {
      if (const auto decoded = model::decode<T>(object)) {
        see(*decoded);
      }
    };
    handlers.remove = [this](const model::ObjectKey&, const std::string& uid) {
      if (const auto node = nodes.find(uid); node != nodes.end()) {
        node->second.gone = true;
      }
      if (const auto pod = pods.find(uid); pod != pods.end()) {
        pod->second.gone = true;
      }
    };
    handlers.synced = [] {};
    const kube::InformerOptions options{.resource = resource, .seed = seed};
    group.spawn(kube::run_informer(*client, options, std::move(handlers), group.stop_token()));
  }

  void count_claims(PromiseCounts& counts) const {
    for (const auto& [uid, claim] : claims) {
      for (const auto& [wanted, count] : claim.pods) {
        counts.planned += static_cast<std::size_t>(count);
      }
    }
  }

  // Once the node could take pods, one of a group that it was bought for waited on, and was bound
  // to another. Not when pods of the group went away unbound: then fewer nodes are needed.
  bool was_wanted(const NodeFact& node) const {
    const auto own = std::find_if(claims.begin(), claims.end(), [&](const auto& entry) {
      return entry.second.node == node.name;
    });
    if (own == claims.end() || node.usable == 0) {
      return false;
    }
    return std::any_of(own->second.pods.begin(), own->second.pods.end(), [&](const auto& wanted) {
      bool waited = false;
      bool shrank = false;
      for (const auto& [uid, pod] : pods) {
        if (pod.group == wanted.first) {
          waited = waited || (pod.created < node.usable && pod.bound > node.usable &&
                              pod.bound < node.last && pod.node != node.name);
          shrank = shrank || (pod.bound == 0 && pod.gone);
        }
      }
      return waited && !shrank;
    });
  }

  void count_nodes(PromiseCounts& counts) const {
    for (const auto& [uid, node] : nodes) {
      const auto on_it = [&](const auto& entry) {
        return entry.second.bound != 0 && entry.second.node == node.name;
      };
      counts.nodes += node.gone ? 1U : 0U;
      if (node.gone && std::none_of(pods.begin(), pods.end(), on_it) && was_wanted(node)) {
        ++counts.died_unused;
        counts.details += node.name + " died unused\n";
      }
      for (const auto& entry : pods) {
        const auto after = node.closed.upper_bound(entry.second.bound);
        if (on_it(entry) && after != node.closed.begin() && std::prev(after)->second) {
          ++counts.bound_closed;
          counts.details += entry.second.name + " was bound to " + node.name + ", closed before\n";
        }
      }
    }
  }
};

Facts::Facts(const std::string& kubeconfig) : state_(std::make_unique<State>()) {
  auto config = kube::load_kubeconfig(kubeconfig);
  if (!config) {
    ADD_FAILURE() << config.error().message;
    return;
  }
  state_->client = std::make_unique<kube::Client>(
      state_->loop, std::shared_ptr<kube::Transport>(kube::make_transport(
                        state_->loop, *std::move(config), base::Logger(), "plane-test")));
  state_->watch<model::Node>(model::kNodeResource, 1);
  state_->watch<model::NodeClaim>(model::kNodeClaimResource, 2);
  state_->watch<model::Pod>(model::kPodResource, 3);
  state_->thread = std::thread([this] { state_->loop.run(); });
}

Facts::~Facts() {
  state_->loop.stop();
  if (state_->thread.joinable()) {
    state_->thread.join();
  }
}

PromiseCounts Facts::count() {
  std::promise<PromiseCounts> counted;
  state_->loop.post([&] {
    PromiseCounts counts;
    state_->count_claims(counts);
    state_->count_nodes(counts);
    counted.set_value(std::move(counts));
  });
  return counted.get_future().get();
}

}  // namespace millwright::plane
