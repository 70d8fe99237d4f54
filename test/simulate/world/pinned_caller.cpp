#include "simulate/world/pinned_caller.hpp"

#include "millwright/base/mutant.hpp"
#include "millwright/model/codec.hpp"
#include "simulate/world/draws.hpp"

#include <algorithm>
#include <utility>

namespace millwright::test {
namespace {

constexpr auto kCallLimit = std::chrono::seconds(2);

std::string uid_of(const std::string& body) {
  const auto parsed = model::parse_json(body);
  return parsed ? std::string(model::text_at(*parsed, "Pod.metadata.uid")) : std::string();
}

std::set<std::string> let_through_by(const std::string& answer) {
  std::set<std::string> nodes;
  const auto parsed = model::parse_json(answer);
  const auto* names = parsed ? model::find_path(*parsed, "NodeNames") : nullptr;
  if (names != nullptr && names->is_array()) {
    for (const auto& name : names->get_array()) {
      nodes.emplace(name.as_string());
    }
  }
  return nodes;
}

}  // namespace

base::Task<base::Result<std::string>> PinnedCaller::call(std::string verb, std::string body) {
  const base::TimePoint limit = world_.now() + kCallLimit;
  const std::string uid = verb == "filter" ? uid_of(body) : std::string();
  const auto before = fences();
  world_.filter_calls_[uid][scheduler_] = {};
  Replica* const target = pinned_ == nullptr ? endpoint() : pinned_;
  pinned_ = nullptr;
  const auto there = draw_up_to(random_, world_.extender_latency_);
  const auto back = draw_up_to(random_, world_.extender_latency_);
  co_await base::sleep(world_.loop_, there);
  if (target == nullptr || target->killed()) {
    co_return base::fail(base::ErrorKind::Unavailable, "connection refused");
  }
  if (target->paused()) {
    co_await base::sleep(world_.loop_, limit - world_.now());
    co_return base::fail(base::ErrorKind::Timeout, "no answer in time");
  }
  if (!target->leadership().holds() && !base::planted(base::Mutant::FollowersAnswer)) {
    co_return base::fail(base::ErrorKind::Unavailable, "503");
  }
  const auto caller = sandbox::in_process_extender(target->engine().extender());
  auto answer = co_await caller->call(std::move(verb), std::move(body));
  const auto after = fences();
  co_await base::sleep(world_.loop_, std::min<base::Duration>(back, limit - world_.now()));
  if (world_.now() >= limit) {
    co_return base::fail(base::ErrorKind::Timeout, "no answer in time");
  }
  pinned_ = target;
  FilterCall& call = world_.filter_calls_[uid][scheduler_];
  call.answered = answer.has_value();
  if (answer && !uid.empty()) {
    call.let_through = let_through_by(*answer);
  }
  call.ended = world_.now();
  for (const auto& [node, since] : before) {
    const auto still = after.find(node);
    if (still != after.end() && still->second == since) {
      call.fenced.insert(node);
    }
  }
  co_return answer;
}

// A Service without a selector of its own would lead to any replica.
Replica* PinnedCaller::endpoint() {
  return base::planted(base::Mutant::FollowersAnswer)
             ? world_.chosen(static_cast<int>(random_.below(100)))
             : world_.led_to();
}

std::map<std::string, base::TimePoint> PinnedCaller::fences() const {
  std::map<std::string, base::TimePoint> fenced;
  Replica* const leader = world_.leader();
  // A leader that has not heard of the cluster for a minute refuses nothing, and counts who passes.
  if (leader != nullptr && leader->engine().state().snapshot()->synced) {
    const auto view = leader->engine().ledger().view();
    for (const auto& [node, fence] : view->fences_by_node) {
      fenced.emplace(node, fence.since);
    }
  }
  return fenced;
}

}  // namespace millwright::test
