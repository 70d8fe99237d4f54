// What kube-scheduler asks the extender. Every verb gets the same text: one object can hold what
// each of them reads.
#include "extender/policy/preemption.hpp"
#include "extender/wire/request.hpp"
#include "fuzz/expect.hpp"
#include "unit/extender/world.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace millwright::extender {
namespace {

namespace json = boost::json;
using fuzz::expect;
using testing::at;
using testing::PodBuilder;

using Names = std::set<std::string>;

constexpr const char* kClosed = "closed";

// Nodes "n" (room is reserved on it), "full" and "closed" (fenced), and the claim "starting", which
// keeps room for "later". Pods that wait: "waiting", "planned", "later", "gated", and "agent" of a
// DaemonSet. Pod "low" is bound to "full". The uid of each is "uid-<name>".
struct SmallCluster : testing::World {
  SmallCluster() {
    now = at(10);
    add_young_node("n", 4000, 0);
    add_young_node("full", 1000, 0);
    add_young_node(kClosed, 4000, 0);
    state.upsert(testing::ClaimBuilder("starting").build());
    keep(PodBuilder("planned").requests(800), "n", 60);
    keep(PodBuilder("later").requests(800), "starting", 60);
    state.upsert(PodBuilder("waiting").requests(100).created(0).claim("data").build());
    state.upsert(PodBuilder("gated").requests(100).version(7).gated().build());
    state.upsert(PodBuilder("agent").owned_by_daemon_set().build());
    state.upsert(PodBuilder("low").on("full").requests(1000).build());
    put_pool();
    put_priority_class();
    ledger.fence({kClosed, "Empty", at(0)});
  }

 private:
  void put_pool() {
    model::NodePool pool;
    pool.meta.name = "default";
    pool.conditions.push_back({.type = "Ready", .status = model::ConditionStatus::True});
    state.upsert(std::make_shared<const model::NodePool>(pool));
  }
  void put_priority_class() {
    model::PriorityClass urgent;
    urgent.meta.name = "urgent";
    urgent.meta.annotations.emplace(model::kProvisionInsteadOfPreemptAnnotation, "2m");
    state.upsert(std::make_shared<const model::PriorityClass>(urgent));
  }
};

Names texts_of(const json::value& list) {
  Names names;
  for (const json::value& each : list.as_array()) {
    names.emplace(each.as_string());
  }
  return names;
}

Names keys_of(const json::value& object) {
  Names names;
  for (const auto& entry : object.as_object()) {
    names.emplace(entry.key());
  }
  return names;
}

Names asked_of(const Request& request) {
  Names names;
  for (const Candidate& candidate : request.candidates) {
    names.emplace(candidate.name);
  }
  return names;
}

// True for an answer, false for the reason why there is none. Neither is out of proportion.
bool is_answer(const Reply& reply, std::string_view text) {
  expect(reply.body.size() <= 4096 + 128 * text.size());
  if (reply.status == 200) {
    return true;
  }
  constexpr std::string_view kMalformed = "malformed extender request: ";
  expect(reply.status == 400 && reply.body.starts_with(kMalformed) &&
         reply.body.size() > kMalformed.size() + 1);
  return false;
}

void check_filter(const Reply& reply, std::string_view text, const SmallCluster& cluster) {
  if (!is_answer(reply, text)) {
    return;
  }
  const auto request = read_request(text);
  expect(request.has_value());
  const auto pod = read_pod(request->pod, *cluster.state.latest());
  expect(pod.has_value());
  const auto answer = fuzz::read_json(reply.body);
  // Nodes are repeated as they came, so the answer is as good as the question was.
  expect(answer || !fuzz::read_json(text));
  if (!answer) {
    return;
  }
  expect(answer->at("Error").as_string().empty() && answer->at("FailedNodes").as_object().empty());
  Names answered = keys_of(answer->at("FailedAndUnresolvableNodes"));
  if (request->full_nodes) {
    const auto& passing = answer->at("Nodes").at("items").as_array();
    expect(passing.size() + answered.size() <= request->candidates.size());
    return;
  }
  Names passing = texts_of(answer->at("NodeNames"));
  expect(pod->is_daemon || !passing.contains(kClosed));
  answered.merge(passing);
  expect(answered == asked_of(*request));
}

void check_prioritize(const Reply& reply, std::string_view text) {
  if (!is_answer(reply, text)) {
    return;
  }
  const auto request = read_request(text);
  expect(request.has_value());
  const auto answer = fuzz::read_json(reply.body);
  expect(answer || !fuzz::read_json(text));
  if (!answer) {
    return;
  }
  const Names asked = asked_of(*request);
  for (const json::value& entry : answer->as_array()) {
    const std::int64_t score = entry.at("Score").as_int64();
    expect(score > 0 && score <= 10 && asked.contains(std::string(entry.at("Host").as_string())));
  }
}

void check_preempt(const Reply& reply, std::string_view text, const SmallCluster& cluster) {
  if (!is_answer(reply, text)) {
    return;
  }
  const auto question = fuzz::read_json(text);
  const auto answer = fuzz::read_json(reply.body);
  expect(question && answer);
  const auto request = read_preemption(*question);
  expect(request.has_value());
  const auto pod = read_pod(*request->pod, *cluster.state.latest());
  expect(pod.has_value());
  Names asked;
  for (const PreemptionNode& node : request->nodes) {
    asked.insert(node.name);
  }
  const Names kept = keys_of(answer->at("NodeNameToMetaVictims"));
  expect(std::includes(asked.begin(), asked.end(), kept.begin(), kept.end()));
  expect(pod->is_daemon || !kept.contains(kClosed));
}

void check_bind(std::string_view text, const SmallCluster& cluster) {
  const auto binding = parse_binding(text);
  std::string problem;
  if (!binding) {
    problem = binding.error().message;
    expect(!problem.empty());
  } else {
    const auto snapshot = cluster.state.latest();
    const auto checked = check_binding(*binding, *snapshot, cluster.ledger, cluster.now);
    problem = checked ? std::string() : checked.error().message;
    expect(checked.has_value() == problem.empty());
    expect(!checked || find_waiting(*snapshot, binding->pod, binding->pod_uid) != nullptr);
  }
  const auto answer = fuzz::read_json(binding_result(problem));
  expect(answer && std::string(answer->at("Error").as_string()) == problem);
}

// Before the first lists are complete every node passes.
void check_start(std::string_view text) {
  testing::World starting;
  starting.state.set_synced(false);
  starting.ledger.fence({kClosed, "Empty", at(0)});
  const Reply reply = starting.extender().filter(text);
  expect(reply.status != 200 ||
         reply.body.ends_with(R"(,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})"));
}

void ask(std::string_view text) {
  SmallCluster cluster;
  const Extender extender = cluster.extender();
  const std::uint64_t generation = cluster.ledger.view()->generation;
  const Reply filtered = extender.filter(text);
  check_filter(filtered, text, cluster);
  check_prioritize(extender.prioritize(text), text);
  check_preempt(extender.preempt(text), text, cluster);
  check_bind(text, cluster);
  // Whatever a caller says, nothing is reserved or freed for it, and one attempt at most is noted.
  expect(cluster.ledger.view()->generation == generation);
  expect(cluster.ledger.passes(cluster.now).size() <= 1);
  for (const RefusedPod& each : cluster.refused) {
    expect(each.pod.shown != Shown::Waiting ||
           find_waiting(*cluster.state.latest(), each.pod.key, each.pod.uid) != nullptr);
  }
  if (filtered.status == 200) {
    check_start(text);
  }
}

}  // namespace
}  // namespace millwright::extender

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  millwright::extender::ask(text);
  return 0;
}
