#include "millwright/controllers/disruption/disruption.hpp"

#include "controllers/decisions/decision_notes.hpp"
#include "controllers/disruption/blocked_news.hpp"
#include "controllers/disruption/buffer_moves.hpp"
#include "controllers/disruption/command_checks.hpp"
#include "controllers/disruption/disruption_marks.hpp"
#include "controllers/disruption/disruption_reports.hpp"
#include "controllers/disruption/failed_claims.hpp"
#include "controllers/disruption/protection_news.hpp"
#include "controllers/disruption/settle_times.hpp"
#include "controllers/process/at_once.hpp"
#include "millwright/base/mutant.hpp"
#include "millwright/controllers/buffers/buffer_room.hpp"
#include "millwright/controllers/provisioning/provisioning.hpp"
#include "millwright/controllers/provisioning/reservations.hpp"
#include "millwright/disruption/steps.hpp"

#include <algorithm>
#include <map>

namespace millwright::controllers {
namespace {

// Decisions are made at most this often, however much changes.
constexpr auto kMinPause = std::chrono::seconds(1);
// Karpenter looks at the cluster this often, and nobody has to wait for longer than that here.
constexpr auto kLongestSettling = std::chrono::seconds(10);
// In a burst every pod is an event, and each look makes a snapshot.
constexpr auto kSettlePoll = std::chrono::milliseconds(250);
constexpr auto kDoubtPoll = std::chrono::milliseconds(50);
// An attempt is over after ten seconds, unless a volume claim is to be bound first. Whoever keeps a
// node in doubt for longer, by such pods or by made-up calls, must not keep it closed.
constexpr auto kLongestDoubt = std::chrono::seconds(30);
// As long as Karpenter remembers that it found nothing to consolidate.
constexpr auto kDoubtedPause = std::chrono::minutes(5);
// For replacements, or for pods of the steps before, until a step may begin.
constexpr auto kStepTimeout = std::chrono::minutes(10);
// Marks and deletions that the API server is asked for at a time.
constexpr std::size_t kWritesAtOnce = 10;
constexpr auto kLongestSettleTime = std::chrono::minutes(5);
// To keep an empty node for longer than another takes to come costs more than to buy it again.
constexpr auto kLongestIdleTime = std::chrono::minutes(1);

// Claims whose nodes may still get pods that kube-scheduler placed before the fence.
std::vector<std::string> in_doubt(const Services& services,
                                  const std::vector<scheduling::NodeRecordPtr>& records) {
  const base::TimePoint now = services.loop.now();
  const bool all = services.ledger.may_be_unseen(now);
  std::vector<std::string> claims;
  if (base::planted(base::Mutant::DoubtIgnored)) {
    return claims;
  }
  for (const auto& record : records) {
    if (all || services.ledger.any_in_doubt(record->name(), now)) {
      claims.push_back(record->claim_name());
    }
  }
  return claims;
}

std::vector<std::string> names_of(const std::vector<scheduling::NodeRecordPtr>& records) {
  std::vector<std::string> claims;
  for (const auto& record : records) {
    claims.push_back(record->claim_name());
  }
  return claims;
}

std::vector<std::string> without(std::vector<std::string> claims,
                                 const std::vector<std::string>& others) {
  const std::set<std::string_view> names(others.begin(), others.end());
  std::erase_if(claims, [&](const auto& claim) { return names.contains(claim); });
  return claims;
}

// What is left of a command when these nodes cannot go. Empty nodes go each for itself; of others
// it was decided that they go together.
disruption::Command leaving_out(disruption::Command command,
                                const std::vector<std::string>& claims) {
  if (command.reason == disruption::Reason::Empty) {
    command.claims = without(std::move(command.claims), claims);
    for (auto& step : command.steps) {
      step.claims = without(std::move(step.claims), claims);
    }
  } else if (!claims.empty()) {
    command.claims.clear();
  }
  return command;
}

// What one step is of its command.
disruption::Command part_of(disruption::Command command, const disruption::Step& step) {
  command.claims = step.claims;
  command.savings = step.savings;
  return command;
}

// What is left of a command of whose steps these nodes have been drained.
disruption::Command rest_of(disruption::Command command, const std::vector<std::string>& begun) {
  command.claims = without(std::move(command.claims), begun);
  command.savings = 0;
  for (const auto& step : command.steps) {
    const bool is_left = without(step.claims, begun).size() == step.claims.size();
    command.savings += is_left ? step.savings : 0;
  }
  return command;
}

std::vector<scheduling::NodeRecordPtr> records_of(Services& services,
                                                  const std::vector<std::string>& claims) {
  std::vector<scheduling::NodeRecordPtr> records;
  for (const auto& name : claims) {
    if (auto record = services.state.find_claim(name)) {
      records.push_back(std::move(record));
    }
  }
  return records;
}

}  // namespace

Disruption::Disruption(Services& services)
    : services_(services.logging_to(services.log.with({{"controller", "disruption"}}))),
      signal_(services.loop),
      progress_(services.loop),
      failed_(std::make_unique<FailedClaims>()),
      news_(std::make_unique<BlockedNews>()),
      protection_news_(std::make_unique<ProtectionNews>()),
      command_ids_(services.seed ^ std::hash<std::string_view>{}("disruption")),
      settle_times_(
          std::make_unique<SettleTimes>(services_.options.settle_time, kLongestSettleTime)),
      idle_times_(std::make_unique<SettleTimes>(services_.options.settle_time, kLongestIdleTime)) {
  count_no_timeouts(services);
}
Disruption::~Disruption() = default;

std::shared_ptr<disruption::Input> Disruption::make_input(
    std::set<std::string, std::less<>> busy) const {
  auto input = std::make_shared<disruption::Input>();
  input->snapshot = services_.state.snapshot();
  input->catalog = catalog_of(services_, *input->snapshot);
  // A node whose marks stay, since nobody could take them off, counts in budgets as one that goes.
  busy.insert(unopened_.begin(), unopened_.end());
  input->busy_claims = std::move(busy);
  input->doubted = doubted_;
  input->failed = failed_->all();
  input->idle_times = idle_times_->by_pool();
  input->now = services_.loop.now();
  input->options.solve = services_.options.solve;
  input->options.settle_time = services_.options.settle_time;
  input->options.node_overhead = services_.options.node_overhead;
  input->options.max_price_ratio = services_.options.max_price_ratio;
  input->options.registration_timeout = services_.options.registration_timeout;
  input->settle_times = settle_times_->by_pool();
  input->options.spot_to_spot = services_.options.spot_to_spot;
  if (services_.buffers != nullptr) {
    input->virtual_pods = services_.buffers->placed_pods(*input->snapshot);
  }
  input->options.static_capacity = services_.options.static_capacity;
  input->memory = memory_;
  return input;
}

base::Task<void> Disruption::run(std::stop_token stop) {
  // Commands outlive a round; all of them end with this group.
  base::TaskGroup commands(services_.loop);
  const std::stop_callback stop_commands(stop, [&commands] { commands.request_stop(); });
  base::Duration pause = services_.options.disruption_poll;
  while (!stop.stop_requested()) {
    co_await signal_.wait(stop, pause);
    progress_.notify();
    co_await base::sleep(services_.loop, kMinPause, stop);
    co_await await_settled_workloads(stop);
    if (stop.stop_requested() || !services_.state.snapshot()->synced || !buffers_are_known()) {
      continue;
    }
    co_await undo_leftovers();
    const auto next = co_await decide_once(commands);
    pause = services_.options.disruption_poll;
    if (next) {
      pause = std::clamp<base::Duration>(*next - services_.loop.now(), kMinPause, pause);
    }
  }
  co_await commands.join();
}

// While a controller is still creating or deleting pods, any answer is about a cluster that will be
// another in a moment, and an eviction cannot be taken back.
base::Task<void> Disruption::await_settled_workloads(std::stop_token stop) {
  const base::TimePoint limit = services_.loop.now() + kLongestSettling;
  while (!stop.stop_requested() && services_.state.snapshot()->unsettled_workloads > 0 &&
         services_.loop.now() < limit) {
    co_await base::sleep(services_.loop, kSettlePoll, stop);
    progress_.notify();
  }
}

// Until every buffer has been planned for, a node that keeps room for one looks empty.
bool Disruption::buffers_are_known() const {
  return services_.buffers == nullptr ||
         services_.buffers->all_planned(*services_.state.snapshot());
}

// What an earlier leader tainted or fenced but did not get to delete, or what could not be reopened
// when a command failed, is open again; a fresh decision will choose it anew if that is still
// right. Karpenter's disruption controller does the same each time round. So a fence that somebody
// else wrote on a NodeClaim lasts until the next round.
base::Task<void> Disruption::undo_leftovers() {
  if (base::planted(base::Mutant::LeftoversKept)) {
    co_return;
  }
  std::vector<std::string> leftovers;
  std::set<std::string, std::less<>> unopened;
  for (const auto& record : services_.state.snapshot()->nodes) {
    if (!record->node || !record->claim || is_ending(*record)) {
      continue;
    }
    const auto& claim = record->claim_name();
    const bool may_be_marked = unopened_.contains(claim);
    if (may_be_marked) {
      unopened.insert(claim);
    }
    const bool going = record->marked_for_deletion || busy_.contains(claim);
    if ((may_be_marked || shows_marks(*record)) && !going) {
      leftovers.push_back(claim);
    }
  }
  unopened_ = std::move(unopened);
  co_await undo(std::move(leftovers));
}

void Disruption::report(const disruption::Decisions& decisions) {
  note_eligible(services_, decisions);
  count_scores(services_, decisions.scores);
  tell_spent_budgets(services_, decisions.spent_budgets);
  for (const auto* pod : protection_news_->due(decisions.protected_pods, services_.loop.now())) {
    tell_protection(services_, *pod);
  }
  for (const auto* blocked : news_->due(decisions.blocked, services_.loop.now())) {
    if (const auto record = services_.state.find_claim(blocked->claim)) {
      tell_blocked(services_, *record, *blocked);
    }
  }
}

base::Task<std::optional<base::TimePoint>> Disruption::decide_once(base::TaskGroup& group) {
  for (auto* times : {settle_times_.get(), idle_times_.get()}) {
    times->look(*services_.state.snapshot(), services_.loop.now());
  }
  std::erase_if(doubted_,
                [now = services_.loop.now()](const auto& claim) { return claim.second <= now; });
  failed_->forget_old(services_.loop.now());
  const auto shown = services_.claims_in_creation->shown();
  const auto input = make_input(busy_);
  // Not where a decision is checked again: its own first steps move pods to nodes of the pool.
  input->options.settle_together = services_.options.settle_time;
  input->method_done = evaluation_timer(services_);
  const auto digest = std::make_shared<std::string>();
  auto work = [input, digest, decide = services_.options.decide] {
    *digest = digest_of(*input);
    return decide(*input);
  };
  auto decisions = co_await base::offload(services_.loop, services_.compute, std::move(work),
                                          base::Urgency::Background);
  report(decisions);
  note_kept(services_, *input, decisions, *digest);
  for (auto& command : decisions.commands) {
    const bool taken = std::any_of(command.claims.begin(), command.claims.end(),
                                   [this](const auto& claim) { return busy_.contains(claim); });
    if (taken) {
      continue;
    }
    busy_.insert(command.claims.begin(), command.claims.end());
    command.id = command_ids_.uuid();
    command.inputs = *digest;
    command.snapshot = shown;
    tell_decided(services_, command, decisions.scores);
    group.spawn(execute(std::move(command), group.stop_token()));
  }
  co_return decisions.next_check;
}

base::Task<void> Disruption::execute(disruption::Command command, std::stop_token stop) {
  // From here on no plan buys room for the buffers of these nodes: the command does.
  const auto moves = begin_buffer_moves(services_, command);
  auto going = co_await fence_and_validate(command, stop);
  if (!going.claims.empty()) {
    services_.log.info("disrupting node(s)",
                       {{"command-id", going.id},
                        {"command", going.summary},
                        {"reason", std::string(to_string(going.reason))},
                        {"decision", going.replacements.empty() ? "delete" : "replace"},
                        {"disrupted-node-count", std::to_string(going.claims.size())},
                        {"replacement-node-count", std::to_string(going.replacements.size())}});
    const auto unmarked = co_await mark_candidates(going);
    going = leaving_out(std::move(going), unmarked);
  }
  co_await give_up(without(command.claims, going.claims));
  if (!going.claims.empty()) {
    const auto kept = co_await carry_out(going, stop);
    co_await give_up(kept);
    release(without(going.claims, kept));
  }
  end_buffer_moves(services_, moves);
  signal_.notify();
}

// Returns the claims whose nodes have to stay after all.
base::Task<std::vector<std::string>> Disruption::carry_out(disruption::Command command,
                                                           std::stop_token stop) {
  reserve_destinations(command);
  auto replacements = co_await create_replacements(command);
  if (!replacements) {
    services_.log.error("creating a replacement failed, keeping the node(s)",
                        {{"command-id", command.id},
                         {"command", command.summary},
                         {"error", replacements.error().message}});
    note_taken_back(services_, command,
                    "creating a replacement failed (" + replacements.error().message + ")");
    // After a conflict the next decision is another one.
    if (replacements.error().kind != base::ErrorKind::Conflict) {
      for (const auto& claim : command.claims) {
        failed_->add(claim, replacements.error().message, services_.loop.now());
      }
    }
    co_return command.claims;
  }
  for (const auto& claim : command.claims) {
    services_.state.mark_for_deletion(claim, true);
  }
  count_decision(services_, command, records_of(services_, command.claims));
  note_consolidated(command);
  std::vector<std::string> begun;
  for (const auto& step : command.steps) {
    const auto part = part_of(command, step);
    std::vector<std::string> needed;
    for (const std::size_t index : step.replacements) {
      needed.push_back((*replacements)[index]);
    }
    const auto why_not = co_await await_step(part, std::move(needed), begun, stop);
    if (why_not) {
      auto rest = rest_of(command, begun);
      services_.log.warn("a step of a command cannot begin, keeping the node(s)",
                         {{"command-id", rest.id}, {"command", rest.summary}, {"why", *why_not}});
      count_taken_back(services_, rest);
      note_taken_back(services_, rest, *why_not);
      co_return rest.claims;
    }
    note_consolidated(part);
    note_removal(services_, part, records_of(services_, part.claims));
    co_await delete_candidates(part);
    begun.insert(begun.end(), step.claims.begin(), step.claims.end());
  }
  co_return std::vector<std::string>{};
}

// The nodes are open again, and other commands may name them.
base::Task<void> Disruption::give_up(std::vector<std::string> claims) {
  co_await undo(claims);
  release(claims);
}

void Disruption::release(const std::vector<std::string>& claims) {
  for (const auto& claim : claims) {
    busy_.erase(claim);
  }
}

void Disruption::note_consolidated(const disruption::Command& command) {
  if (command.reason == disruption::Reason::Drifted) {
    return;
  }
  auto& times = command.reason == disruption::Reason::Empty ? *idle_times_ : *settle_times_;
  for (const auto& record : records_of(services_, command.claims)) {
    times.consolidated(record->node_pool(), services_.loop.now());
  }
}

// From the fence on, no scheduling attempt can choose these nodes; those that had chosen one
// before are waited for, and the decision is made again from what came of them. Returns what is
// left of the command, which may be nothing.
base::Task<disruption::Command> Disruption::fence_and_validate(disruption::Command command,
                                                               std::stop_token stop) {
  const auto records = records_of(services_, command.claims);
  for (const auto& record : records) {
    if (base::planted(base::Mutant::NothingFenced)) {
      break;
    }
    services_.ledger.fence({.node = record->name(),
                            .reason = std::string(to_string(command.reason)),
                            .since = services_.loop.now()});
  }
  const auto doubtful = co_await await_certainty(records, stop);
  const auto certain = leaving_out(command, doubtful);
  if (certain.claims.empty()) {
    co_return certain;
  }
  auto others = busy_;
  for (const auto& claim : command.claims) {
    others.erase(claim);
  }
  const auto input = make_input(std::move(others));
  auto work = [input, certain] { return disruption::what_holds(certain, *input); };
  auto held = co_await base::offload(services_.loop, services_.compute, std::move(work),
                                     base::Urgency::Background);
  auto dropped = certain;
  dropped.claims = without(certain.claims, held.claims);
  if (!dropped.claims.empty()) {
    note_invalid(services_, dropped);
    note_taken_back(services_, dropped, "pods, nodes, prices or budgets have changed");
  }
  if (stop.stop_requested()) {
    held.claims.clear();
  }
  co_return held;
}

// Claims to whose nodes pods may still come; all of them when `stop` was requested.
base::Task<std::vector<std::string>> Disruption::await_certainty(
    std::vector<scheduling::NodeRecordPtr> records, std::stop_token stop) {
  const base::TimePoint limit = services_.loop.now() + kLongestDoubt;
  while (true) {
    auto doubtful = in_doubt(services_, records);
    if (doubtful.empty()) {
      co_return doubtful;
    }
    if (services_.loop.now() >= limit) {
      put_off(records);
      co_return doubtful;
    }
    const bool slept = co_await base::sleep(services_.loop, kDoubtPoll, stop);
    if (!slept) {
      co_return names_of(records);
    }
  }
}

// The next decision leaves these nodes out and says why, in events on Node and NodeClaim.
void Disruption::put_off(const std::vector<scheduling::NodeRecordPtr>& records) {
  const base::TimePoint now = services_.loop.now();
  for (const auto& record : records) {
    const auto pods = services_.ledger.in_doubt(record->name(), now);
    if (!pods.empty()) {
      doubted_[record->claim_name()] = now + kDoubtedPause;
      services_.log.warn("pods may still be bound to a fenced node, opening it again",
                         {{"NodeClaim", record->claim_name()},
                          {"pods", std::to_string(pods.size())},
                          {"pod-uid", pods.front()}});
    }
  }
}

// Returns the claims that could not be marked.
base::Task<std::vector<std::string>> Disruption::mark_candidates(disruption::Command command) {
  const auto failed = std::make_shared<std::vector<std::string>>();
  std::vector<base::Task<void>> marks;
  for (const auto& record : records_of(services_, command.claims)) {
    marks.push_back(mark(record, std::string(to_string(command.reason)), failed));
  }
  co_await run_at_once(services_.loop, std::move(marks), kWritesAtOnce);
  co_return *failed;
}

base::Task<void> Disruption::mark(scheduling::NodeRecordPtr record, std::string reason,
                                  std::shared_ptr<std::vector<std::string>> failed) {
  auto marked = co_await mark_disrupted(services_, record, reason);
  if (!marked) {
    services_.log.warn("could not mark a node for disruption, keeping it",
                       {{"NodeClaim", record->claim_name()}, {"error", marked.error().message}});
    failed->push_back(record->claim_name());
    unopened_.insert(record->claim_name());  // what was written, the state may not show yet
    failed_->add(record->claim_name(), marked.error().message, services_.loop.now());
  }
}

// The pods that move to nodes which exist find their room there, and nothing is bought for them.
// Should the nodes stay after all, their pods need none of it, and State frees it. A node that has
// gone since the decision keeps no room: its pods are planned for anew.
void Disruption::reserve_destinations(const disruption::Command& command) {
  std::map<std::string_view, std::string_view> targets;
  for (const auto& placement : command.placements) {
    if (const auto* name = std::get_if<std::string>(&placement.target)) {
      targets.emplace(placement.pod_uid, *name);
    }
  }
  const auto snapshot = services_.state.snapshot();
  std::map<std::string, std::vector<scheduling::PodPtr>> pods_by_target;
  for (const auto& record : records_of(services_, command.claims)) {
    for (const auto& pod : record->pods) {
      const auto target = targets.find(pod->meta.uid);
      if (target == targets.end()) {
        continue;
      }
      const auto node = find_node(*snapshot, target->second);
      const auto there = node ? node : services_.state.find_claim(target->second);
      if (there && !there->marked_for_deletion) {
        pods_by_target[there->name()].push_back(pod);
      }
    }
  }
  const base::TimePoint until = services_.loop.now() + services_.options.reserve_after_ready;
  for (const auto& [target, pods] : pods_by_target) {
    services_.ledger.reserve_all(reservations_for(pods, target, until));
  }
  std::map<std::string, std::vector<std::string>> uids_by_target;
  for (const auto& [uid, target] : targets) {
    uids_by_target[std::string(target)].emplace_back(uid);
  }
  for (const auto& [target, uids] : uids_by_target) {
    move_buffer_room(services_, uids, target);
  }
}

base::Task<base::Result<std::vector<std::string>>> Disruption::create_replacements(
    disruption::Command command) {
  std::vector<std::string> names;
  const auto snapshot = services_.state.snapshot();
  const auto catalog =
      command.replacements.empty() ? scheduling::Catalog() : catalog_of(services_, *snapshot);
  MW_CO_TRY(pools, unedited_pools(*snapshot, command));
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const auto& planned = command.replacements[i];
    std::vector<scheduling::PodPtr> pods;
    for (const auto& record : records_of(services_, command.claims)) {
      for (const auto& pod : record->pods) {
        const auto& uids = planned.pod_uids;
        if (std::find(uids.begin(), uids.end(), pod->meta.uid) != uids.end()) {
          pods.push_back(pod);
        }
      }
    }
    const auto types = catalog.find(planned.node_pool);
    NewClaim wanted{.planned = planned,
                    .pool = pools[i],
                    .pods = std::move(pods),
                    .reason = metric_reason(command.reason),
                    .trace = command.id,
                    .inputs = command.inputs,
                    .snapshot = command.snapshot,
                    .types = types == catalog.end() ? nullptr : types->second};
    MW_CO_TRY(created, co_await create_claim(services_, std::move(wanted)));
    names.push_back(created->meta.name);
    for (auto* times : {settle_times_.get(), idle_times_.get()}) {
      times->replaced_by(names.back(), services_.loop.now());
    }
    tell_launching(services_, *created, command.reason);
    move_buffer_room(services_, planned.pod_uids, names.back());
  }
  co_return names;
}

// Why the step cannot begin; nullopt: it may.
base::Task<std::optional<std::string>> Disruption::await_step(disruption::Command part,
                                                              std::vector<std::string> replacements,
                                                              std::vector<std::string> begun,
                                                              std::stop_token stop) {
  const base::TimePoint limit = services_.loop.now() + kStepTimeout;
  while (!stop.stop_requested()) {
    if (auto why_not =
            protection_of(records_of(services_, part.claims), part.reason, services_.loop.now())) {
      co_return why_not;
    }
    bool ready =
        begun.empty() || disruption::may_be_drained(*services_.state.snapshot(), part.claims, begun,
                                                    services_.loop.now());
    for (const auto& name : replacements) {
      const auto record = services_.state.find_claim(name);
      if (!record || record->marked_for_deletion) {
        co_return "its replacement " + name + " is gone";
      }
      if (!record->initialized()) {
        ready = false;
        tell_waiting(services_, *record);
      }
    }
    if (ready) {
      co_return std::nullopt;
    }
    if (services_.loop.now() >= limit) {
      co_return begun.empty() ? "a replacement did not become ready"
                              : "a replacement did not become ready, or pods that moved before it "
                                "did not run again";
    }
    co_await progress_.wait(stop, std::chrono::seconds(1));
  }
  co_return "this replica does not lead any more";
}

base::Task<void> Disruption::delete_candidates(disruption::Command command) {
  std::vector<base::Task<void>> deletions;
  for (const auto& record : records_of(services_, command.claims)) {
    deletions.push_back(delete_candidate(record, command.reason));
  }
  co_await run_at_once(services_.loop, std::move(deletions), kWritesAtOnce);
}

base::Task<void> Disruption::delete_candidate(scheduling::NodeRecordPtr record,
                                              disruption::Reason reason) {
  tell_terminating(services_, *record, std::string(to_string(reason)));
  auto deleted = co_await delete_disrupted(services_, record, metric_reason(reason));
  if (!deleted) {
    services_.log.error("failed terminating nodes while executing a disruption command",
                        {{"NodeClaim", record->claim_name()}, {"error", deleted.error().message}});
    failed_->add(record->claim_name(), deleted.error().message, services_.loop.now());
    std::vector<std::string> kept(1, record->claim_name());
    co_await undo(std::move(kept));
  }
}

base::Task<void> Disruption::undo(std::vector<std::string> claims) {
  for (const auto& claim : claims) {
    const auto record = services_.state.find_claim(claim);
    if (!record || is_ending(*record)) {
      unopened_.erase(claim);
      continue;
    }
    auto cleared = co_await clear_disrupted(
        services_, record, unopened_.contains(claim) ? Taint::MayBeHidden : Taint::AsShown);
    if (cleared) {
      unopened_.erase(claim);
    } else {
      unopened_.insert(claim);
      services_.log.warn("could not reopen a node",
                         {{"NodeClaim", claim}, {"error", cleared.error().message}});
    }
    services_.ledger.unfence(record->name());
    services_.state.mark_for_deletion(claim, false);
  }
}

}  // namespace millwright::controllers
