// Carries out the commands of module disruption. It fences the nodes, waits until no scheduling
// attempt is in doubt, checks the command on a fresh snapshot, taints the nodes and creates all
// replacements. Then the nodes go step by step: each step when the replacements that its pods need
// are ready, and while pods have been moved before it, when they are out of the way
// (disruption/steps.hpp), and unless somebody has come to protect one of its nodes or pods. What
// cannot be finished is undone, also the command whose nodes are in doubt for too long: a fenced
// node takes no pods and costs money.
#pragma once

#include "millwright/controllers/services.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::controllers {

class BlockedNews;
class FailedClaims;
class ProtectionNews;
class SettleTimes;

class Disruption {
 public:
  explicit Disruption(Services& services);
  ~Disruption();
  // Something that a decision depends on changed.
  void notify() { signal_.notify(); }
  base::Task<void> run(std::stop_token stop);

 private:
  base::Task<void> await_settled_workloads(std::stop_token stop);
  bool buffers_are_known() const;
  base::Task<void> undo_leftovers();
  void report(const disruption::Decisions& decisions);
  base::Task<std::optional<base::TimePoint>> decide_once(base::TaskGroup& group);
  base::Task<void> execute(disruption::Command command, std::stop_token stop);
  base::Task<std::vector<std::string>> carry_out(disruption::Command command, std::stop_token stop);
  base::Task<void> give_up(std::vector<std::string> claims);
  void release(const std::vector<std::string>& claims);
  base::Task<disruption::Command> fence_and_validate(disruption::Command command,
                                                     std::stop_token stop);
  base::Task<std::vector<std::string>> await_certainty(
      std::vector<scheduling::NodeRecordPtr> records, std::stop_token stop);
  void put_off(const std::vector<scheduling::NodeRecordPtr>& records);
  base::Task<std::vector<std::string>> mark_candidates(disruption::Command command);
  base::Task<void> mark(scheduling::NodeRecordPtr record, std::string reason,
                        std::shared_ptr<std::vector<std::string>> failed);
  void reserve_destinations(const disruption::Command& command);
  base::Task<base::Result<std::vector<std::string>>> create_replacements(
      disruption::Command command);
  base::Task<std::optional<std::string>> await_step(disruption::Command part,
                                                    std::vector<std::string> replacements,
                                                    std::vector<std::string> begun,
                                                    std::stop_token stop);
  base::Task<void> delete_candidates(disruption::Command command);
  base::Task<void> delete_candidate(scheduling::NodeRecordPtr record, disruption::Reason reason);
  void note_consolidated(const disruption::Command& command);
  base::Task<void> undo(std::vector<std::string> claims);
  std::shared_ptr<disruption::Input> make_input(std::set<std::string, std::less<>> busy) const;

  Services services_;
  base::Signal signal_;
  base::Signal progress_;                    // for steps that wait until they may begin
  std::set<std::string, std::less<>> busy_;  // claims named by commands in progress
  // Claims whose marks could not be taken off, or were written in part, whatever the state shows.
  std::set<std::string, std::less<>> unopened_;
  std::map<std::string, base::TimePoint, std::less<>> doubted_;  // as in disruption::Input
  std::unique_ptr<FailedClaims> failed_;
  // Used by the thread of the background alone, which does one thing after the other.
  std::shared_ptr<disruption::Memory> memory_ = disruption::make_memory();
  std::unique_ptr<BlockedNews> news_;
  std::unique_ptr<ProtectionNews> protection_news_;
  base::Random command_ids_;
  std::unique_ptr<SettleTimes> settle_times_;  // of nodes with pods
  std::unique_ptr<SettleTimes> idle_times_;    // of empty ones
};

}  // namespace millwright::controllers
