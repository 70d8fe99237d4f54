#include "millwright/scheduling/planning_session.hpp"

#include "scheduling/current_problem.hpp"
#include "scheduling/default_spread.hpp"
#include "scheduling/live_plan.hpp"

#include <optional>

namespace millwright::scheduling {

class PlanningSession::State {
 public:
  State(Problem problem, SessionOptions options) : options_(options), problem_(std::move(problem)) {
    plan_anew();
  }

  void restart(Problem problem) {
    problem_ = CurrentProblem(std::move(problem));
    plan_anew();
  }

  CurrentProblem& problem() { return problem_; }
  LivePlan& live() { return *live_; }
  std::size_t restarts() const { return restarts_; }

  // The problem has changed; `in_place`: so has the plan.
  Revision revise(bool in_place) {
    if (in_place) {
      auto revision = live_->revise();
      const bool strayed =
          live_->strayed() > 0 && live_->strayed() > options_.allowance * live_->price();
      if (revision && !strayed && !live_->worn_out()) {
        return *std::move(revision);
      }
    }
    plan_anew();
    return {.from_scratch = true};
  }

 private:
  void plan_anew() {
    PlanMemory::Compiled memory;
    if (live_) {
      memory = std::move(*live_).release();
    }
    auto live = std::make_unique<LivePlan>(with_default_spread(problem_.make()), std::move(memory));
    live_ = std::move(live);
    ++restarts_;
  }

  SessionOptions options_;
  CurrentProblem problem_;
  std::unique_ptr<LivePlan> live_;
  std::size_t restarts_ = 0;
};

PlanningSession::PlanningSession(Problem problem, SessionOptions options)
    : state_(std::make_unique<State>(std::move(problem), options)) {}
PlanningSession::PlanningSession(PlanningSession&&) noexcept = default;
PlanningSession& PlanningSession::operator=(PlanningSession&&) noexcept = default;
PlanningSession::~PlanningSession() = default;

void PlanningSession::restart(Problem problem) {
  state_->restart(std::move(problem));
}

Revision PlanningSession::add_pod(PodPtr pod) {
  state_->problem().add(pod);
  return state_->revise(!state_->problem().has_default_spread() && state_->live().add_pod(pod));
}

Revision PlanningSession::remove_pod(std::string_view uid) {
  const bool in_place = state_->live().remove_pod(uid);
  state_->problem().remove_pod(uid);
  return state_->revise(in_place);
}

Revision PlanningSession::bind_pod(std::string_view uid, NodeRecordPtr node) {
  const auto before = state_->problem().node(node->name());
  const bool in_place = state_->live().bind_pod(uid, before, node);
  state_->problem().remove_pod(uid);
  state_->problem().set(std::move(node));
  return state_->revise(in_place);
}

Revision PlanningSession::set_node(NodeRecordPtr node) {
  const auto before = state_->problem().node(node->name());
  const bool in_place = state_->live().set_node(before, node);
  state_->problem().set(std::move(node));
  return state_->revise(in_place);
}

Revision PlanningSession::remove_node(std::string_view name) {
  const auto before = state_->problem().node(name);
  if (!before) {
    return {};
  }
  const bool in_place = state_->live().remove_node(before);
  state_->problem().remove_node(before->name());
  return state_->revise(in_place);
}

Plan PlanningSession::plan() const {
  return state_->live().plan();
}

Problem PlanningSession::problem() const {
  return state_->problem().make();
}

std::size_t PlanningSession::restarts() const {
  return state_->restarts();
}

}  // namespace millwright::scheduling
