// A cluster state, a ledger and an extender over both, with a clock that stands still; and the
// request texts that kube-scheduler would send.
#pragma once

#include "millwright/base/metrics.hpp"
#include "millwright/cluster/state.hpp"
#include "millwright/extender/extender.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cluster/objects.hpp"

#include <boost/json.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millwright::testing {

struct World {
  base::TimePoint now = at(0);
  cluster::Ledger ledger;
  cluster::State state{ledger};
  base::Metrics metrics;
  std::vector<extender::RefusedPod> refused;
  bool can_be_bought = true;
  std::vector<std::string> spared;  // uids of pods
  std::vector<std::string> problems;
  extender::Policy policy;

  World() { state.set_synced(true); }

  // One of our own nodes, Ready and initialised at `since`, joined with its claim "claim-<name>".
  void add_young_node(const std::string& name, std::int64_t milli_cpu, std::int64_t since) {
    state.upsert(NodeBuilder(name)
                     .managed()
                     .provider("p-" + name)
                     .allocatable(milli_cpu)
                     .ready_since(since)
                     .build());
    state.upsert(
        ClaimBuilder("claim-" + name).provider("p-" + name).condition("Initialized").build());
  }

  // Room for the pod, which waits.
  void keep(const PodBuilder& pod, const std::string& target, std::int64_t until_seconds) {
    state.upsert(pod.build());
    ledger.reserve(reservation_for(pod.value(), target, until_seconds));
  }
  // Pods "<set>-0" and so on of one group, which wait.
  std::vector<model::Pod> add_waiting(const std::string& set, int count, std::int64_t milli_cpu) {
    std::vector<model::Pod> pods;
    for (int i = 0; i < count; ++i) {
      const PodBuilder pod =
          std::move(PodBuilder(set + "-" + std::to_string(i)).requests(milli_cpu).owned_by(set));
      state.upsert(pod.build());
      pods.push_back(pod.value());
    }
    return pods;
  }

  extender::Extender extender() {
    state.snapshot();
    return extender::Extender(
        {.sight = [this] { return state.sight(); },
         .ledger = &ledger,
         .now = [this] { return now; },
         .on_refused = [this](extender::RefusedPod pod) { refused.push_back(std::move(pod)); },
         .can_be_bought = [this](const extender::PodFacts&) { return can_be_bought; },
         .on_spared = [this](const extender::PodFacts& pod) { spared.push_back(pod.uid); },
         .on_problem = [this](const std::string& problem) { problems.push_back(problem); },
         .metrics = &metrics},
        policy);
  }
};

inline std::string json_of(const model::Pod& pod) {
  return boost::json::serialize(model::encode(pod));
}

inline std::string names_request(const model::Pod& pod, const std::vector<std::string>& nodes) {
  boost::json::array names(nodes.begin(), nodes.end());
  return R"({"Pod":)" + json_of(pod) + R"(,"Nodes":null,"NodeNames":)" +
         boost::json::serialize(names) + "}";
}

inline std::string preempt_request(const model::Pod& pod, const std::string& meta_victims) {
  return R"({"Pod":)" + json_of(pod) + R"(,"NodeNameToVictims":null,"NodeNameToMetaVictims":)" +
         meta_victims + "}";
}

// FailedAndUnresolvableNodes of a filter reply.
inline std::map<std::string, std::string> refusals(const extender::Reply& reply) {
  std::map<std::string, std::string> nodes;
  const boost::json::value json = boost::json::parse(reply.body);
  for (const auto& [name, reason] : json.at("FailedAndUnresolvableNodes").as_object()) {
    nodes.emplace(name, std::string(reason.as_string()));
  }
  return nodes;
}

inline std::vector<std::string> passing(const extender::Reply& reply) {
  std::vector<std::string> names;
  const boost::json::value json = boost::json::parse(reply.body);
  for (const auto& name : json.at("NodeNames").as_array()) {
    names.emplace_back(name.as_string());
  }
  return names;
}

inline std::map<std::string, int> scores(const extender::Reply& reply) {
  std::map<std::string, int> scores;
  const boost::json::value json = boost::json::parse(reply.body);
  for (const auto& entry : json.as_array()) {
    scores.emplace(entry.at("Host").as_string(), static_cast<int>(entry.at("Score").as_int64()));
  }
  return scores;
}

}  // namespace millwright::testing
