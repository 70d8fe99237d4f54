#include "scheduling/current_problem.hpp"

#include <utility>

namespace millwright::scheduling {

bool takes_pods(const NodeRecord& node) {
  return !node.marked_for_deletion && !node.fenced;
}

CurrentProblem::CurrentProblem(Problem problem)
    : counts_(!problem.counted_nodes.empty() || problem.nodes.empty()) {
  for (PodPtr& pod : problem.pods) {
    add(std::move(pod));
  }
  for (NodeRecordPtr& node : problem.nodes) {
    nodes_.emplace(node->name(), std::move(node));
  }
  for (NodeRecordPtr& node : problem.counted_nodes) {
    counted_.emplace(node->name(), std::move(node));
  }
  if (problem.surroundings) {
    for (const NodeRecordPtr& node : problem.surroundings->nodes) {
      around_.emplace(node->name(), node);
    }
  }
  problem.pods.clear();
  problem.nodes.clear();
  problem.counted_nodes.clear();
  rest_ = std::move(problem);
}

void CurrentProblem::add(PodPtr pod) {
  if (pod->meta.uid.empty()) {
    nameless_.push_back(std::move(pod));
  } else {
    pods_.insert_or_assign(pod->meta.uid, pod);
  }
}

void CurrentProblem::remove_pod(std::string_view uid) {
  if (const auto found = pods_.find(uid); found != pods_.end()) {
    pods_.erase(found);
  }
}

void CurrentProblem::set(NodeRecordPtr node) {
  counted_.insert_or_assign(node->name(), node);
  around_.insert_or_assign(node->name(), node);
  moved_on_ = true;
  if (takes_pods(*node)) {
    nodes_.insert_or_assign(node->name(), node);
  } else {
    nodes_.erase(node->name());
  }
}

void CurrentProblem::remove_node(std::string_view name) {
  moved_on_ = true;
  for (Nodes* nodes : {&nodes_, &counted_, &around_}) {
    if (const auto found = nodes->find(name); found != nodes->end()) {
      nodes->erase(found);
    }
  }
}

NodeRecordPtr CurrentProblem::node(std::string_view name) const {
  for (const Nodes* nodes : {&around_, &counted_, &nodes_}) {
    if (const auto found = nodes->find(name); found != nodes->end()) {
      return found->second;
    }
  }
  return nullptr;
}

Problem CurrentProblem::make() const {
  Problem problem = rest_;
  problem.pods = nameless_;
  for (const auto& [uid, pod] : pods_) {
    problem.pods.push_back(pod);
  }
  for (const auto& [name, node] : nodes_) {
    problem.nodes.push_back(node);
  }
  if (counts_) {
    for (const auto& [name, node] : counted_) {
      problem.counted_nodes.push_back(node);
    }
  }
  // Where there are surroundings with nodes, these are the ones whose pods count.
  if (moved_on_ && rest_.surroundings && !rest_.surroundings->nodes.empty()) {
    auto surroundings = std::make_shared<Snapshot>(*rest_.surroundings);
    surroundings->nodes.clear();
    for (const auto& [name, node] : around_) {
      surroundings->nodes.push_back(node);
    }
    problem.surroundings = std::move(surroundings);
  }
  return problem;
}

}  // namespace millwright::scheduling
