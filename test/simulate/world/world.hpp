// One simulated world: replicas with real election, kube-scheduler behind a Service, an API server
// and a cloud in trouble, people who change things. It carries out a schedule, heals, and comes to
// rest; checks look at it all the time.
#pragma once

#include "sandbox/ha/replica.hpp"
#include "simulate/world/clouds/world_cloud.hpp"
#include "simulate/world/network.hpp"
#include "simulate/world/schedule.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace millwright::test {

struct Violation {
  std::string check;
  std::string what;  // says what, which object, and when
};

// An instance of the cloud, as its machine sees it.
struct Machine {
  std::string claim_uid;  // empty: the cloud does not say it yet
  base::TimePoint launched;
  bool ending = false;
  bool interrupted = false;
  bool notice_forgotten = false;  // what was made of it is lost
  std::string node;
};

// What came of a kube-scheduler's newest call of filter for a pod.
struct FilterCall {
  std::set<std::string> fenced;  // nodes that the leader had closed before it began
  bool answered = false;
  std::set<std::string> let_through;  // nodes
  base::TimePoint ended;

  bool refused() const { return answered && let_through.empty(); }
};

// By scheduler: for some seconds there may be two.
using FilterCalls = std::map<int, FilterCall>;

class Checks;

class SimulatedWorld final : public MachineListener {
 public:
  explicit SimulatedWorld(Schedule schedule);
  ~SimulatedWorld() override;

  // Carries out the schedule. What was found; empty: nothing.
  std::vector<Violation> run();

  // What checks look at.
  base::TimePoint now() const { return loop_.now(); }
  base::Duration age() const { return loop_.now() - begin_; }
  // Since when nothing is wrong with the surroundings any more.
  std::optional<base::TimePoint> healed() const { return healed_; }
  const Schedule& schedule() const { return schedule_; }
  const sandbox::Recorder& recorder() const { return world_->recorder(); }
  const std::map<std::string, Machine>& machines() const { return machines_; }
  const std::vector<std::unique_ptr<Replica>>& replicas() const { return replicas_; }
  const std::map<std::string, FilterCalls>& filter_calls() const { return filter_calls_; }
  // How much older than it is a replica may find an object.
  base::Duration most_ahead() const;
  // When etcd was restored last.
  std::optional<base::TimePoint> restored() const { return restored_; }
  // Nodes that have been without their labels for a while.
  const std::set<std::string>& stripped_nodes() const { return stripped_nodes_; }
  // The Node says, or said after `since`, that it is of another machine.
  bool has_lied(const std::string& node, base::TimePoint since) const;
  // The machine reported too few CPUs until a moment after `since`, at least.
  bool was_poor(const std::string& provider_id, base::TimePoint since) const {
    return poor_.contains(provider_id) && mended_ >= since;
  }
  // Claims that people have deleted, by name.
  const std::set<std::string>& deleted_claims() const { return deleted_claims_; }
  // How many pods each Deployment or ReplicaSet wants, by its name.
  std::map<std::string, std::size_t> wanted_pods(
      const model::Resource& workloads = model::kDeploymentResource);
  // Pods that Deployments wanted that were withdrawn or rolled out anew since then.
  std::size_t withdrawn_pods(base::TimePoint since) const;
  // nullptr when no term holds.
  Replica* leader() const;
  // The same for the same schedule: of every change of an object and every write of a replica.
  std::uint64_t trace() const { return trace_; }

  // MachineListener
  void launched(const cloud::Instance& instance, std::shared_ptr<const model::NodeClaim> claim,
                base::Duration boot) override;
  void terminating(const std::string& provider_id) override;
  void terminated(const std::string& provider_id) override;

 private:
  friend class PinnedCaller;

  void apply(const std::string& yaml);
  // It may be gone by now; people live with that.
  void edit(const model::Resource& resource, const std::string& name,
            const std::function<void(boost::json::value&)>& change,
            std::string_view subresource = {});
  void start_replica();
  // How far the clock of a process that starts now on this machine is ahead.
  base::Duration clock_of(std::size_t machine);
  Replica* led_to();
  // The one that the number chooses; nullptr when none is alive.
  Replica* chosen(int which);
  Network& network_of(const Replica& replica) { return *networks_.at(replica.name()); }
  void wrote(Write write);
  void changes_cloud(const Write& write);
  void note(std::string_view what);

  void carry_out(const Step& step);
  void strike_replica(const Step& step);
  void end(Replica& replica, base::Duration grace);
  void change_scheduler(const Step& step);
  void call_as_nobody(base::TimePoint until);
  std::string hostile_body();
  void break_kubelets(const Step& step);
  void mend_kubelets();
  // As its kubelet does.
  void register_node(boost::json::value& node);
  void break_node(const Step& step);
  // The registered one that the number chooses; empty when there is none.
  std::string chosen_node(int which);
  void jump_clock(const Step& step);
  void restore(const Step& step);
  // Undoes it once more when etcd is back: what was undone meanwhile, or after the backup, is lost.
  void undo_after(base::Duration lasts, std::function<void()> undo);
  void strike_network(const Step& step);
  void set_trouble(const Step& step, bool on);
  void strike_cloud(const Step& step);
  void act_as_people(const Step& step);
  void edit_deployment(const Step& step);
  void edit_pod(const Step& step);
  void delete_claim(bool by_force);
  void trickle(const Step& step, base::TimePoint until);
  void crash_when_due();
  void replace(Replica& replica, base::Duration after);
  std::optional<std::string> deployment_of(const Step& step) const;
  void learn_owners();
  bool is_at_rest() const;

  Schedule schedule_;
  base::VirtualLoop loop_;
  base::TimePoint begin_;
  base::Random random_;
  base::Random clock_random_;
  base::Random hostile_random_;
  ApiTrouble trouble_;
  sandbox::Faults faults_;
  CloudTrouble cloud_trouble_;
  base::Duration extender_latency_{};
  std::map<std::string, Machine> machines_;
  std::unique_ptr<WorldCloud> cloud_;
  std::unique_ptr<sandbox::World> world_;
  std::map<std::string, std::shared_ptr<Network>> networks_;  // by replica
  std::vector<std::unique_ptr<Replica>> replicas_;            // the dead too: timers know them
  std::map<std::string, std::uint64_t> crashes_;  // by replica: at so many of its callbacks
  std::map<std::string, base::Duration> comes_back_;
  std::map<std::string, FilterCalls> filter_calls_;  // by pod uid
  int schedulers_ = 1;
  int retired_schedulers_ = 0;
  std::map<base::Duration, std::shared_ptr<const sandbox::ApiServer::Backup>> backups_;  // by age
  std::optional<base::TimePoint> restored_;
  std::vector<std::pair<base::TimePoint, std::function<void()>>> undone_;
  // What machines that launch now do wrong.
  struct BadKubelets {
    base::Duration late{};
    std::optional<int> percent;       // of their CPUs
    std::optional<bool> lie_as_some;  // they have another machine's id, or none's
  };
  BadKubelets bad_kubelets_;
  std::map<std::string, model::ResourceList> poor_;  // by machine: what it really has
  base::TimePoint mended_;                           // when they were corrected last
  std::map<std::string, bool>
      liars_;  // machines that have not registered: BadKubelets::lie_as_some
  std::map<std::string, std::string> lies_;  // provider ids that are not theirs, by Node
  std::set<std::string> deployments_;
  std::multimap<base::TimePoint, std::size_t> withdrawn_;  // the pods of each
  std::set<std::string> stripped_nodes_;
  std::set<std::string> deleted_claims_;
  int made_deployments_ = 0;
  std::vector<sandbox::ApiServer::Subscription> watches_;
  std::optional<base::TimePoint> healed_;
  std::uint64_t trace_ = 1469598103934665603ULL;
  std::unique_ptr<Checks> checks_;
};

struct Outcome {
  std::vector<Violation> violations;
  std::uint64_t trace = 0;
  base::Duration lasted{};
};
Outcome simulate(const Schedule& schedule);
// Leaves out steps as long as a run still breaks the same check.
Schedule shrink(Schedule schedule, const std::string& check);

}  // namespace millwright::test
